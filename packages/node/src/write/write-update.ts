/**
 * Server: update_stage.cpp, upsert_stage.cpp, parsed_update_base.cpp; manual:
 * reference/command/update.
 */
import { CommandError, findField, nestsDeeperThan, maxStoredDepth, type RawValue } from '@shardlab/bson'
import type { Filter, Update } from '@shardlab/query'
import type { Collection, LogSession, RetryImage } from '@shardlab/storage'
import {
  checkBuilt,
  withCollation,
  documentBytesMax,
  type UpdateStatement,
  compileStatement,
  upsertedDocument,
} from '@shardlab/member'
import { refuseCatalogChange } from '../ddl/catalog-collections.js'
import { checkDocument } from '../validation/check-document.js'
import { refuseView } from '../views/refuse-view.js'
import { fixDocumentForInsert } from './fix-document.js'
import { insertDocument } from './write-insert.js'
import { modifyDocuments, StatementFilter } from './write-search.js'
import type { WriteScope } from './write-scope.js'

export interface UpdateOutcome {
  readonly matched: number
  readonly modified: number
  readonly upsertedId: RawValue | null
  /** The last matched document before and after the update. `before` is null for an upsert. */
  readonly before: Uint8Array | null
  readonly after: Uint8Array | null
}

/** Errors that do not depend on documents have already been thrown. */
export interface PreparedUpdate {
  /**
   * Returns a promise only if the statement gives up its turn.
   * @param image which document the log keeps for a repeated findAndModify; default none
   * @throws CommandError errors of its documents or the collection: 66, 121, 11000, 17419, …
   */
  run(session: LogSession | null, image?: RetryImage['kind'] | null): UpdateOutcome | Promise<UpdateOutcome>
}

/**
 * @param compiled the change of the statement, if it has a form that statements lack
 * @throws CommandError those of {@link compileStatement} and of the filter; 72 for a retryable
 *   update of many documents
 */
export function prepareUpdate(scope: WriteScope, statement: UpdateStatement, compiled?: Update): PreparedUpdate {
  const { invocation, ns, evaluation } = scope
  const { host, retryable } = invocation
  if (statement.multi && retryable !== null)
    throw new CommandError('InvalidOptions', 'Cannot use (or request) retryable writes with multi=true')
  const collection = host.collection(ns)
  if (collection === undefined) {
    refuseView(host, ns)
    refuseCatalogChange(host, ns, statement)
  }
  const context = withCollation(evaluation, statement.collation, collection?.defaultCollation ?? null)
  const change = compiled ?? compileStatement(statement, context)
  const filter = new StatementFilter(statement.filter, context)
  return {
    run(session, image = null) {
      let matched = 0
      let modified = 0
      let before: Uint8Array | null = null
      let after: Uint8Array | null = null
      const complete = (): UpdateOutcome => {
        if (matched > 0 || !statement.upsert) return { matched, modified, upsertedId: null, before, after }
        const document = documentToUpsert(scope, statement, change, filter.filter)
        if (!scope.isFromOplog) host.role.checkUpsert?.(scope.access, document, invocation, statement)
        const upsertedId = insertDocument(
          scope,
          document,
          withImage(session, image === 'postImage' ? { kind: image, document } : null),
        )
        return { matched: 0, modified: 0, upsertedId, before: null, after: document }
      }
      if (collection === undefined) return complete()
      const modify = (document: Uint8Array): void => {
        evaluation.checkForInterrupt?.()
        const changed = change.apply(document, filter)
        after =
          changed === null
            ? document
            : replaceStored(scope, collection, { before: document, after: changed, change, statement }, session, image)
        matched++
        before = document
        if (changed !== null) modified++
      }
      return modifyDocuments({ scope, collection, statement, filter, context, session, modify, complete })
    },
  }
}

function documentToUpsert(
  { invocation: { host }, keepsEmptyTimestamps }: WriteScope,
  statement: UpdateStatement,
  change: Update,
  filter: Filter,
): Uint8Array {
  const document = upsertedDocument(statement, change, filter)
  checkSize(document, 17420, 'Document to upsert')
  return fixDocumentForInsert(host, document, { keepsEmptyTimestamps })
}

interface Replacement {
  readonly before: Uint8Array
  readonly after: Uint8Array
  readonly change: Update
  readonly statement: UpdateStatement
}

function replaceStored(
  { invocation, ns, access, bypassValidation, isFromOplog, keepsEmptyTimestamps }: WriteScope,
  collection: Collection,
  { before, after, change, statement }: Replacement,
  session: LogSession | null,
  image: RetryImage['kind'] | null,
): Uint8Array {
  const { host } = invocation
  checkSize(after, 17419, 'Resulting document after update')
  if (collection.capped !== null && before.length !== after.length && !host.behaviours.cappedDocumentsCanChangeSize) {
    throw new CommandError(
      'CannotGrowDocumentInCappedNamespace',
      `Cannot change the size of a document in a capped collection: ${before.length} != ${after.length}`,
    )
  }
  const object = change.isReplacement ? fixDocumentForInsert(host, after, { keepsEmptyTimestamps }) : after
  if (!isFromOplog) host.role.checkReplacement(access, before, object, invocation, statement)
  checkDocument(host, collection, object, { before, bypass: bypassValidation })
  const kept = image === null ? null : { kind: image, document: image === 'preImage' ? before : object }
  host.requireRoom(object.length + (kept?.document.length ?? 0))
  host.apply({
    op: 'u',
    ns,
    uuid: collection.uuid,
    object,
    id: findField(before, '_id')!,
    session: withImage(session, kept),
    difference: change.isReplacement ? null : change.difference(before, object),
    o2: access.ownership?.placement.shardKey.documentKey(before) ?? undefined,
  })
  return object
}

function withImage(session: LogSession | null, image: RetryImage | null): LogSession | null {
  return session === null || image === null ? session : { ...session, image }
}

function checkSize(document: Uint8Array, code: number, what: string): void {
  if (nestsDeeperThan(document, maxStoredDepth))
    throw new CommandError('Overflow', `Document exceeds maximum nesting depth of ${maxStoredDepth}`)
  if (document.length <= documentBytesMax) return
  checkBuilt(document)
  throw new CommandError(code, `${what} is larger than ${documentBytesMax}`)
}
