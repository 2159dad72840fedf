/** Arguments that reading commands share. */
import type { CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError, findField, isEmptyDocument } from '@shardlab/bson'

/** A count. @throws CommandError 51024 for negative values */
export function nonNegative(args: CommandArguments, name: string): number | undefined {
  const value = args.number(name)
  if (value === undefined) return undefined
  if (value < 0) throw new CommandError(51024, `BSON field '${name}' value must be >= 0, actual value '${value}'`)
  return Math.trunc(value)
}

/** @throws CommandError 9 FailedToParse when there is no cursor argument */
export function checkCursorArgument(cursor: Uint8Array | undefined, explain: boolean): void {
  if (cursor === undefined && !explain) {
    throw new CommandError('FailedToParse', "The 'cursor' option is required, except for aggregate with the explain argument")
  }
}

/** `cursor.batchSize`. @throws CommandError 14 TypeMismatch, 2 BadValue */
export function batchSizeOf(cursor: Uint8Array | undefined): number | undefined {
  const size = cursor === undefined ? undefined : findField(cursor, 'batchSize')
  if (size === undefined || size.type === BsonType.null) return undefined
  if (!size.isNumber()) throw new CommandError('TypeMismatch', 'cursor.batchSize field must be a number')
  const value = Math.trunc(size.asNumber())
  if (value < 0) throw new CommandError('BadValue', 'cursor.batchSize must not be negative')
  return value
}

/** Is this a document `{}` or nothing? */
export function isAbsentOrEmpty(document: Uint8Array | undefined): boolean {
  return document === undefined || isEmptyDocument(document)
}

/** A collation argument that asks for anything but the simple one. */
export function hasCollation(args: CommandArguments): boolean {
  const collation = args.document('collation')
  if (collation === undefined || isEmptyDocument(collation)) return false
  const locale = findField(collation, 'locale')
  return !(locale?.type === BsonType.string && locale.asString() === 'simple')
}

const countMin = -(2n ** 63n)

/**
 * `skip` and `limit` of a count: a negative limit counts like a positive one, 0 is none.
 * Server: count_request.cpp.
 * @throws CommandError 2 BadValue, 9 FailedToParse
 */
export function countBounds(args: CommandArguments): { readonly skip: number; readonly limit: number } {
  const limit = args.value('limit')
  if (limit !== undefined && !limit.isNumber()) throw new CommandError('BadValue', 'limit value is not a valid number')
  if (limit?.type === BsonType.int64 && limit.asBigInt() === countMin)
    throw new CommandError('BadValue', 'limit value for count cannot be min long')
  const skip = args.value('skip')
  if (skip !== undefined && !skip.isNumber()) throw new CommandError('BadValue', 'skip value is not a valid number')
  const wholeSkip = whole('skip', skip?.asNumber() ?? 0)
  if (wholeSkip < 0) throw new CommandError('FailedToParse', `Expected a non-negative number in: skip: ${wholeSkip}`)
  return { skip: wholeSkip, limit: Math.abs(whole('limit', limit?.asNumber() ?? 0)) }
}

function whole(name: string, value: number): number {
  if (!Number.isInteger(value)) throw new CommandError('FailedToParse', `Expected an integer: ${name}: ${value}`)
  return value
}
