/** Arguments that reading commands share. */
import { checkFields, type CommandArguments, type FieldSpecs } from '@shardlab/actor'
import { BsonType, CommandError, findField, isEmptyDocument } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'

/** A count. @throws CommandError 51024 for negative values */
export function nonNegative(args: CommandArguments, name: string): number | undefined {
  const value = args.number(name)
  if (value === undefined) return undefined
  if (value < 0) throw new CommandError(51024, `BSON field '${name}' value must be >= 0, actual value '${value}'`)
  return Math.trunc(value)
}

/** `batchSize` of getMore; 0: the default. @throws CommandError 51024, 2 BadValue up to 4.4 */
export function getMoreBatchSize(args: CommandArguments, { getMoreNeedsPositiveBatchSize }: Behaviours): number {
  const size = args.number('batchSize')
  if (getMoreNeedsPositiveBatchSize && size !== undefined && Math.trunc(size) <= 0)
    throw new CommandError('BadValue', `Batch size for getMore must be positive, but received: ${Math.trunc(size)}`)
  return nonNegative(args, 'batchSize') ?? 0
}

/** The namespace that a getMore names. Server: getmore_cmd.cpp. @throws CommandError 73 InvalidNamespace */
export function getMoreNamespace(args: CommandArguments, db: string): string {
  const name = args.string('collection')!
  if (name === '' || name.startsWith('.') || name.includes('\0'))
    throw new CommandError('InvalidNamespace', `Invalid namespace for getMore: ${db}.${name}`)
  return `${db}.${name}`
}

/** @throws CommandError 14 TypeMismatch, 9 FailedToParse when an aggregate that is not explained has no cursor argument */
export function checkCursorArgument(args: CommandArguments): void {
  const cursor = args.value('cursor')
  if (cursor !== undefined && cursor.type !== BsonType.object)
    throw new CommandError('TypeMismatch', 'cursor field must be missing or an object')
  if (cursor === undefined && args.bool('explain') !== true)
    throw new CommandError(
      'FailedToParse',
      "The 'cursor' option is required, except for aggregate with the explain argument",
    )
}

const cursorFields = { batchSize: 'number' } as const satisfies FieldSpecs

/**
 * `cursor.batchSize` of aggregate and of the commands that list.
 * Server: SimpleCursorOptions; aggregation_request_helper.cpp, parseAggregateCursorFromBSON.
 * @throws CommandError 40415 for other fields, 14 TypeMismatch, 51024 for negative values
 */
export function batchSizeOf(args: CommandArguments): number | undefined {
  const cursor = args.document('cursor')
  if (cursor === undefined) return undefined
  checkFields(args.command === 'aggregate' ? 'cursor' : `${args.command}.cursor`, cursor, cursorFields)
  const size = findField(cursor, 'batchSize')
  if (size === undefined || size.type === BsonType.null) return undefined
  const value = Math.trunc(size.asNumber())
  if (value < 0) throw new CommandError(51024, `BSON field 'batchSize' value must be >= 0, actual value '${value}'`)
  return value
}

/** Is this a document `{}` or nothing? */
export function isAbsentOrEmpty(document: Uint8Array | undefined): boolean {
  return document === undefined || isEmptyDocument(document)
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
