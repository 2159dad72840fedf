/** Server: bulk_write_common.cpp, bulk_write.idl. */
import { checkFields, checkNoNul, isNamespace, type FieldSpecs } from '@shardlab/actor'
import { CommandError, findField } from '@shardlab/bson'
import { documentsArgument } from '../arguments/documents-argument.js'
import { uuidIn } from '../arguments/collection-uuid.js'
import { checkHint, checkModification, readModify, type WriteStatement } from '../writes/statement.js'
import { bulkWriteTarget, checkPosition, type BulkWriteTarget } from '../writes/bulk-write-target.js'
import { checkBatchSize, type StatementSource } from '../writes/write-statements.js'
import type { CommandSpec } from './command-spec.js'
import { bulkWritePrivileges } from '../access/write-privileges.js'

export const bulkWriteSpec = {
  name: 'bulkWrite',
  access: 'write',
  privileges: bulkWritePrivileges,
  adminOnly: true,
  opensCursor: true,
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

export interface BulkWriteOp extends BulkWriteTarget {
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
  for (const op of ops) checkPosition(op, op.document, namespaces.length)
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
  const target = bulkWriteTarget(document)
  if (target.kind !== 'insert') checkHint(findField(document, 'hint'))
  if (target.kind === 'update') checkModification(findField(document, 'updateMods')!)
  return { ...target, document }
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
