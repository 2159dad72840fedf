import { documentValue, errorCodeName, FieldIterator, findField, type RawValue } from '@shardlab/bson'

/**
 * Code name of the failure that a reply reports: of the command, of its first failed statement, or
 * of its write concern. Null: none.
 */
export function errorIn(reply: Uint8Array): string | null {
  const value = documentValue(reply)
  const code =
    codeOf(value) ??
    firstCodeIn(field(value, 'writeErrors')) ??
    firstCodeOfBulkWrite(reply) ??
    codeOf(field(value, 'writeConcernError'))
  return code === undefined ? null : errorCodeName(code)
}

const field = (value: RawValue | undefined, name: string): RawValue | undefined =>
  value === undefined ? undefined : findField(value.bytes, name, value.start)

const codeOf = (value: RawValue | undefined): number | undefined => field(value, 'code')?.asNumber()

/** Of the first document that has one: a bulkWrite also lists statements that succeeded. */
function firstCodeIn(array: RawValue | undefined): number | undefined {
  if (array === undefined) return undefined
  for (const it = new FieldIterator(array.bytes, array.start); it.next();) {
    const code = codeOf(it.value())
    if (code !== undefined) return code
  }
  return undefined
}

/** The statements are in the batches of a cursor. */
function firstCodeOfBulkWrite(reply: Uint8Array): number | undefined {
  if (!(findField(reply, 'nErrors')?.isTruthy() ?? false)) return undefined
  return firstCodeIn(field(findField(reply, 'cursor'), 'firstBatch'))
}
