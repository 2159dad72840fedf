/** Server: bulk_write_common.cpp, bulk_write.idl. */
import { checkFields, checkNoNul, isNamespace, type FieldSpecs } from '@shardlab/actor'
import { CommandError, FieldIterator, findField } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import { documentsArgument } from '../arguments/documents-argument.js'
import { uuidIn } from '../arguments/collection-uuid.js'
import { checkHint, checkModification, readModify, type WriteStatement } from '../writes/statement.js'
import { checkBatchSize, type StatementSource, type WriteKind } from '../writes/write-statements.js'
import type { CommandSpec } from './command-spec.js'
import { bulkWritePrivileges } from '../access/write-privileges.js'

export const bulkWriteSpec = {
  name: 'bulkWrite',
  access: 'write',
  privileges: bulkWritePrivileges,
  adminOnly: true,
  apiVersion1: true,
  manual: 'reference/command/bulkWrite',
  retryable: true,
  behaviour: 'bulkWriteCommand',
  fields: {
    ops: 'array!',
    nsInfo: 'array!',
    cursor: 'object',
    bypassDocumentValidation: 'bool',
    bypassEmptyTsReplacement: 'bool',
    ordered: 'bool',
    errorsOnly: 'bool',
    let: 'object',
  },
} as const satisfies CommandSpec

/** Of the cursor over the results. */
export const bulkWriteNs = 'admin.$cmd.bulkWrite'

export interface BulkWriteOp {
  readonly kind: WriteKind
  /** Position in `nsInfo`. */
  readonly namespace: number
  readonly document: Uint8Array
}

export interface BulkWriteRequest {
  readonly ops: readonly BulkWriteOp[]
  /** `db.collection` of each entry of `nsInfo`. */
  readonly namespaces: readonly string[]
  readonly uuids: readonly (Uint8Array | null)[]
  readonly ordered: boolean
  readonly errorsOnly: boolean
}

const opFields: Readonly<Record<WriteKind, FieldSpecs>> = {
  insert: { insert: 'number!', document: 'object!' },
  update: {
    update: 'number!',
    filter: 'object!',
    multi: 'bool',
    updateMods: 'any!',
    upsert: 'bool',
    upsertSupplied: 'bool',
    arrayFilters: 'array',
    hint: 'any',
    constants: 'object',
    collation: 'object',
    sort: 'object',
    sampleId: 'binary',
  },
  delete: { delete: 'number!', filter: 'object!', multi: 'bool', hint: 'any', collation: 'object', sampleId: 'binary' },
}

const namespaceFields = { ns: 'string!', collectionUUID: 'binary' } as const satisfies FieldSpecs
const cursorFields = { batchSize: 'number' } as const satisfies FieldSpecs

/**
 * @throws CommandError 16 InvalidLength, 73 InvalidNamespace, 2 BadValue for an op without a
 *   namespace, 40415, 40414, 14, 9 for malformed ops
 */
export function readBulkWrite(source: StatementSource): BulkWriteRequest {
  const { args } = source
  const entries = documentsArgument(source, 'nsInfo')
  for (const entry of entries) checkFields('bulkWrite.nsInfo', entry, namespaceFields)
  const ops = documentsArgument(source, 'ops').map(readOp)
  checkBatchSize(ops.length)
  const namespaces = entries.map((entry) => checkedNamespace(findField(entry, 'ns')!.asString()))
  for (const { namespace, document } of ops) {
    if (namespace >= namespaces.length)
      throw new CommandError('BadValue', `BulkWrite ops entry ${formatDocument(document)} has an invalid nsInfo index.`)
  }
  checkCursor(args.document('cursor'))
  const uuids = entries.map((entry) => {
    const value = findField(entry, 'collectionUUID')
    return value === undefined
      ? null
      : uuidIn('bulkWrite.nsInfo.collectionUUID', value.bytes.subarray(value.start, value.end))
  })
  return { ops, namespaces, uuids, ordered: args.bool('ordered') ?? true, errorsOnly: args.bool('errorsOnly') ?? false }
}

export function readStatement({ kind, document }: Pick<BulkWriteOp, 'kind' | 'document'>): WriteStatement {
  return kind === 'insert'
    ? { kind, document: findField(document, 'document')!.slice() }
    : readModify(kind, document, 1)
}

/** undefined: as many as fit */
export function bulkWriteBatchSize({ args }: StatementSource): number | undefined {
  const cursor = args.document('cursor')
  return cursor === undefined ? undefined : findField(cursor, 'batchSize')?.asNumber()
}

function readOp(document: Uint8Array): BulkWriteOp {
  const it = new FieldIterator(document)
  const kind = it.next() ? it.name() : ''
  if (kind !== 'insert' && kind !== 'update' && kind !== 'delete')
    throw new CommandError('IDLUnknownField', `BSON field 'bulkWrite.${kind}' is an unknown field.`)
  const index = it.value()
  checkFields('bulkWrite.ops', document, opFields[kind])
  const namespace = Math.trunc(index.asNumber())
  if (namespace < 0)
    throw new CommandError('BadValue', `BSON field '${kind}' value must be >= 0, actual value '${namespace}'`)
  if (kind !== 'insert') checkHint(findField(document, 'hint'))
  if (kind === 'update') checkModification(findField(document, 'updateMods')!)
  return { kind, namespace, document }
}

function checkedNamespace(ns: string): string {
  // Without a collection, the server prints the database alone.
  checkNoNul(ns)
  if (!isNamespace(ns))
    throw new CommandError('InvalidNamespace', `Invalid namespace specified for bulkWrite: '${ns.replace(/\.$/, '')}'`)
  return ns
}

function checkCursor(cursor: Uint8Array | undefined): void {
  if (cursor === undefined) return
  checkFields('bulkWrite.cursor', cursor, cursorFields)
  const size = findField(cursor, 'batchSize')
  if (size === undefined || size.isNullish()) return
  if (size.asNumber() < 0)
    throw new CommandError(
      'BadValue',
      `BSON field 'batchSize' value must be >= 0, actual value '${Math.trunc(size.asNumber())}'`,
    )
}
