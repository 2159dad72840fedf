/** Inserts, updates and deletes of applyOps. Server: applyOperation_inlock in oplog.cpp. */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  documentValue,
  fieldsOf,
  findField,
  sameBytes,
  typeName,
} from '@shardlab/bson'
import { uuidText } from '@shardlab/member'
import { compileDelta, formatField, type Update } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
import { refuseView } from '../views/refuse-view.js'
import { fixDocumentForInsert } from '../write/fix-document.js'
import { prepareDelete } from '../write/write-delete.js'
import { insertDocument } from '../write/write-insert.js'
import { writeScope, type WriteScope } from '../write/write-scope.js'
import { prepareUpdate } from '../write/write-update.js'
import { operationText, type Operation } from './operation.js'

export interface ApplyOptions {
  readonly alwaysUpsert: boolean
  /** An insert of an existing `_id` replaces the document without trying first. */
  readonly isAtomic: boolean
}

/** Like an oplog entry on a secondary, it is applied whatever the placement of the collection. */
const everything = { ownership: null }

/**
 * @returns null, or the error of a write that failed; the other operations continue
 * @throws CommandError any other error: the other operations are not applied
 */
export function applyDocument(
  invocation: NodeInvocation,
  operation: Operation,
  options: ApplyOptions,
): Promise<CommandError | null> | CommandError | null {
  const { host } = invocation
  const { applyOpsMode } = host.behaviours
  if (applyOpsMode === 'each') {
    const mismatch = uuidMismatch(host, operation)
    if (mismatch !== null) return mismatch
  }
  const collection = collectionOf(host, operation)
  const kind = operation.op[0]
  if (collection === undefined && applyOpsMode !== 'lenient') {
    refuseView(host, operation.ns)
    if (kind === 'd') return null
    throw new CommandError(
      'NamespaceNotFound',
      `cannot apply insert or update operation on a non-existent namespace ${operation.ns}: ${operationText(operation, { ...host.behaviours, applyOpsEntryText: 'operation' })}`,
    )
  }
  const scope = { ...writeScope(invocation, collection?.ns ?? operation.ns, everything), isFromOplog: true }
  switch (kind) {
    case 'i':
      return applyInsert(scope, operation, options)
    case 'u':
      return applyUpdate(scope, operation, options)
    case 'd':
      return applyDelete(scope, operation)
    default:
      throw new CommandError(14825, `error in applyOperation : unknown opType ${kind}`)
  }
}

function uuidMismatch(host: NodeHost, { ns, uuid }: Operation): CommandError | null {
  if (uuid === null) return null
  const collection = host.collection(ns)
  if (collection !== undefined && sameBytes(collection.uuid, uuid)) return null
  return new CommandError(3318200, `Namespace '${ns}' and UUID '${uuidText(uuid)}' point to different collections`)
}

/** @throws CommandError 26 NamespaceNotFound for an unknown UUID */
function collectionOf(host: NodeHost, operation: Operation): Collection | undefined {
  const { ns, uuid } = operation
  const named = host.collection(ns)
  // A missing name decides first.
  if (uuid === null || named === undefined) return named
  const found = host.engine.collections().find((each) => sameBytes(each.uuid, uuid))
  if (found !== undefined) return found
  throw new CommandError(
    'NamespaceNotFound',
    `Failed to apply operation due to missing collection (${uuidText(uuid)}): ${operationText(operation, host.behaviours)}`,
  )
}

function applyInsert(
  scope: WriteScope,
  operation: Operation,
  { isAtomic }: ApplyOptions,
): Promise<CommandError | null> | CommandError | null {
  const { host } = scope.invocation
  const isLenient = host.behaviours.applyOpsMode === 'lenient'
  host.opcounters.insert++
  const object = operation.object ?? emptyDocument
  const id = findField(object, '_id')
  if (id === undefined && !isLenient) throw missingId('insert', operation, host.behaviours)
  if (!isAtomic && !isLenient) {
    try {
      insertDocument(scope, fixDocumentForInsert(host, object, { keepsEmptyTimestamps: true }), null)
      return null
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      if (error.codeName !== 'DuplicateKey') return error
    }
  }
  const filter = id === undefined ? object : new DocumentWriter(64).value('_id', id).finish()
  return thenNull(
    prepareUpdate(scope, { ...statementOf(filter), update: documentValue(object), upsert: true }).run(null),
  )
}

function applyUpdate(
  scope: WriteScope,
  operation: Operation,
  { alwaysUpsert }: ApplyOptions,
): Promise<CommandError | null> | CommandError | null {
  const { host } = scope.invocation
  const { behaviours } = host
  host.opcounters.update++
  const criteria = operation.object2 ?? emptyDocument
  const filter = criteriaOf('update', criteria, operation, behaviours)
  const upsert = operation.upsert || alwaysUpsert
  const { document, delta } = changeOf(operation.object ?? emptyDocument, behaviours)
  const statement = { ...statementOf(filter), update: documentValue(document), upsert }
  const outcome = prepareUpdate(scope, statement, delta ?? undefined).run(null)
  const isModifier = delta !== null || fieldsOf(document)[0]?.[0].startsWith('$') === true
  const failure = ({ matched, upsertedId }: { matched: number; upsertedId: unknown }) =>
    matched > 0 || upsertedId !== null || upsert ? null : failedUpdate(operation, isModifier, behaviours)
  return outcome instanceof Promise ? outcome.then(failure) : failure(outcome)
}

function applyDelete(scope: WriteScope, operation: Operation): Promise<CommandError | null> | CommandError | null {
  const { host } = scope.invocation
  host.opcounters.delete++
  const filter = criteriaOf('delete', operation.object ?? emptyDocument, operation, host.behaviours)
  const multi = host.behaviours.applyOpsMode === 'lenient' && !operation.upsert
  return thenNull(prepareDelete(scope, { kind: 'delete', filter, multi }).run(null))
}

const emptyDocument = new Uint8Array([5, 0, 0, 0, 0])

function statementOf(filter: Uint8Array) {
  return { kind: 'update', filter, multi: false, upsertSupplied: false } as const
}

function thenNull(outcome: unknown): Promise<null> | null {
  return outcome instanceof Promise ? outcome.then(() => null) : null
}

/**
 * The `_id` alone, because the criteria may have the fields of a shard key too; in 2.6 all of them.
 * @throws CommandError 4 NoSuchKey
 */
function criteriaOf(
  what: 'update' | 'delete',
  criteria: Uint8Array,
  operation: Operation,
  behaviours: Behaviours,
): Uint8Array {
  if (behaviours.applyOpsMode === 'lenient') return criteria
  const id = findField(criteria, '_id')
  if (id === undefined) throw missingId(what, operation, behaviours)
  return new DocumentWriter(64).value('_id', id).finish()
}

function missingId(what: string, operation: Operation, behaviours: Behaviours): CommandError {
  return new CommandError(
    'NoSuchKey',
    `Failed to apply ${what} due to missing _id: ${operationText(operation, behaviours)}`,
  )
}

function failedUpdate(operation: Operation, isModifier: boolean, behaviours: Behaviours): CommandError {
  const text = isModifier ? 'failed to apply update' : 'update of non-mod failed'
  const shown = behaviours.applyOpsParsesEntries ? text[0]!.toUpperCase() + text.slice(1) : text
  return new CommandError('UpdateOperationFailed', `${shown}: ${operationText(operation, behaviours)}`)
}

interface Change {
  /** Modifiers or a replacement. */
  readonly document: Uint8Array
  readonly delta: Update | null
}

/** Server: UpdateModification::parseFromOplogEntry. @throws CommandError 4772600, 4772601 */
function changeOf(object: Uint8Array, { oplogUpdates }: Behaviours): Change {
  if (findField(object, '_id') !== undefined) return { document: object, delta: null }
  const version = findField(object, '$v')
  const number = version?.isNumber() === true ? version.asNumber() : null
  if (oplogUpdates !== 'modifiers') {
    const takesModifiers = oplogUpdates === 'modifiers and deltas' && (version === undefined || number === 1)
    if (number === 2) return { document: object, delta: deltaOf(object) }
    if (!takesModifiers) {
      const expected = oplogUpdates === 'deltas' ? '$v:2' : '$v field missing or $v:1/$v:2'
      const got = version === undefined ? 'EOO' : formatField('$v', version)
      throw new CommandError(4772600, `Expected _id field or ${expected}, but got: ${got}`)
    }
  }
  return { document: version === undefined ? object : withoutVersion(object), delta: null }
}

function deltaOf(object: Uint8Array): Update {
  const diff = findField(object, 'diff')
  if (diff?.type !== BsonType.object)
    throw new CommandError(
      4772601,
      `Expected 'diff' field to be an object, instead got type: ${diff === undefined ? 'missing' : typeName(diff.type)}`,
    )
  return compileDelta(diff)
}

function withoutVersion(object: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(object.length)
  for (const [name, value] of fieldsOf(object)) if (name !== '$v') writer.value(name, value)
  return writer.finish()
}
