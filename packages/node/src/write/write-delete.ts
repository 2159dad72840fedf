/** Server: delete_stage.cpp, write_ops_exec.cpp. */
import { CommandError } from '@shardlab/bson'
import type { LogSession } from '@shardlab/storage'
import { type DeleteStatement, withCollation } from '@shardlab/member'
import { refuseCatalogChange } from '../ddl/catalog-collections.js'
import { refuseView } from '../views/refuse-view.js'
import { removeDocument } from './write-insert.js'
import { modifyDocuments, StatementFilter } from './write-search.js'
import type { WriteScope } from './write-scope.js'

export interface DeleteOutcome {
  readonly deleted: number
  /** The last document that was deleted. */
  readonly document: Uint8Array | null
}

export interface PreparedDelete {
  /**
   * Returns a promise only if the statement gives up its turn.
   * @param wantsImage whether the log keeps the deleted document for a repeated findAndModify;
   *   default false
   * @throws CommandError 20 IllegalOperation on capped collections of old versions
   */
  run(session: LogSession | null, wantsImage?: boolean): DeleteOutcome | Promise<DeleteOutcome>
}

/** @throws CommandError those of the filter; 72 for a retryable delete of many documents */
export function prepareDelete(scope: WriteScope, statement: DeleteStatement): PreparedDelete {
  const { invocation, ns, evaluation } = scope
  const { host, retryable } = invocation
  if (statement.multi && retryable !== null)
    throw new CommandError('InvalidOptions', 'Cannot use (or request) retryable writes with limit=0')
  const collection = host.collection(ns)
  if (collection === undefined) {
    refuseView(host, ns)
    refuseCatalogChange(host, ns, statement)
  }
  const context = withCollation(evaluation, statement.collation, collection?.defaultCollation ?? null)
  const filter = new StatementFilter(statement.filter, context)
  return {
    run(session, wantsImage = false) {
      if (collection === undefined) return { deleted: 0, document: null }
      if (collection.capped !== null && !host.behaviours.cappedDocumentsCanBeDeleted)
        throw new CommandError('IllegalOperation', `cannot remove from a capped collection: ${ns}`)
      let deleted = 0
      let last: Uint8Array | null = null
      const modify = (document: Uint8Array): void => {
        const image =
          session === null || !wantsImage ? session : { ...session, image: { kind: 'preImage' as const, document } }
        host.requireRoom(document.length)
        removeDocument(host, collection, document, image, scope.access.ownership)
        deleted++
        last = document
      }
      const complete = (): DeleteOutcome => ({ deleted, document: last })
      return modifyDocuments({ scope, collection, statement, filter, context, session, modify, complete })
    },
  }
}
