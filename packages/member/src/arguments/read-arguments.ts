import { checkFields, type CommandArguments, type FieldSpecs } from '@shardlab/actor'
import { CommandError, findField, isEmptyDocument } from '@shardlab/bson'

/** Truncates. @throws CommandError 51024 for negative values */
export function nonNegative(args: CommandArguments, name: string): number | undefined {
  const value = args.number(name)
  if (value === undefined) return undefined
  if (value < 0) throw new CommandError(51024, `BSON field '${name}' value must be >= 0, actual value '${value}'`)
  return Math.trunc(value)
}

const cursorFields = { batchSize: 'number' } as const satisfies FieldSpecs

/**
 * `cursor.batchSize` of aggregate and of the list commands. Server: SimpleCursorOptions;
 * aggregation_request_helper.cpp, parseAggregateCursorFromBSON.
 * @throws CommandError 40415 for other fields, 14 TypeMismatch, 51024 for negative values
 */
export function batchSizeOf(args: CommandArguments): number | undefined {
  const cursor = args.document('cursor')
  if (cursor === undefined) return undefined
  checkFields(args.command === 'aggregate' ? 'cursor' : `${args.command}.cursor`, cursor, cursorFields)
  const size = findField(cursor, 'batchSize')
  if (size === undefined || size.isNullish()) return undefined
  const value = Math.trunc(size.asNumber())
  if (value < 0) throw new CommandError(51024, `BSON field 'batchSize' value must be >= 0, actual value '${value}'`)
  return value
}

export function isAbsentOrEmpty(document: Uint8Array | undefined): boolean {
  return document === undefined || isEmptyDocument(document)
}
