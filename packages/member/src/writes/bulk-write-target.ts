/** Server: BulkWriteCRUDOp in bulk_write_crud_op.cpp. */
import { checkFields, type FieldSpecs } from '@shardlab/actor'
import { CommandError, decimalText, BsonType, FieldIterator, type RawValue } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { WriteKind } from './write-statements.js'

export interface BulkWriteTarget {
  readonly kind: WriteKind
  /** Position in `nsInfo`. */
  readonly namespace: number
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

/**
 * What an entry of `ops` does, and where: for the check of privileges and for the write.
 * @throws CommandError 40415, 40414, 14 for a malformed entry, 2 BadValue for a negative position
 */
export function bulkWriteTarget(operation: Uint8Array): BulkWriteTarget {
  const it = new FieldIterator(operation)
  const kind = it.next() ? it.name() : ''
  if (kind !== 'insert' && kind !== 'update' && kind !== 'delete')
    throw new CommandError('IDLUnknownField', `BSON field 'bulkWrite.${kind}' is an unknown field.`)
  const index = it.value()
  checkFields('bulkWrite.ops', operation, opFields[kind])
  const namespace = positionIn(index)
  if (namespace < 0)
    throw new CommandError('BadValue', `BSON field '${kind}' value must be >= 0, actual value '${namespace}'`)
  return { kind, namespace }
}

/** @throws CommandError 2 BadValue */
export function checkPosition({ namespace }: BulkWriteTarget, operation: Uint8Array, namespaces: number): void {
  if (namespace < namespaces) return
  throw new CommandError('BadValue', `BulkWrite ops entry ${formatDocument(operation)} has an invalid nsInfo index.`)
}

/** Any number, without its fraction; NaN is 0. */
function positionIn(value: RawValue): number {
  const number = value.type === BsonType.decimal128 ? Number(decimalText(value)) : value.asNumber()
  return Math.trunc(number) || 0
}
