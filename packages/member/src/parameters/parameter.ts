/**
 * Manual: reference/parameters. Server: server_parameter.h and the `server_parameters` of its IDL
 * files.
 */
import { BsonType, CommandError, decimalText, type DocumentWriter, type RawValue } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import type { FailPoints } from '../fail-points/fail-points.js'

export type ParameterValue = boolean | number | string | readonly string[]

export interface ParameterOwner {
  readonly behaviours: Behaviours
  readonly failPoints: FailPoints
  readonly parameters: { number(name: 'logLevel'): number; string(name: 'logComponentVerbosity'): string }
}

export interface ParameterRow<Owner extends ParameterOwner = ParameterOwner> {
  readonly name: string
  readonly type: 'bool' | 'int' | 'long' | 'double' | 'string' | 'strings' | 'document'
  readonly initial: ParameterValue
  /** Inclusive bounds. */
  readonly min?: number
  readonly max?: number
  /** Of a string, or of each name; absent: any. */
  readonly values?: readonly string[]
  /** Exclusive bounds. */
  readonly above?: number
  readonly below?: number
  readonly settableAtRuntime: boolean
  readonly settableAtStartup: boolean
  /** The failure of setting it to another value than `accepts`; absent: it can be set. */
  readonly refusal?: {
    readonly accepts: ParameterValue
    readonly code: 'IllegalOperation' | 'CommandNotSupported'
    readonly message: string
  }
  /** Name of the behaviour that has it; absent: all versions do. */
  readonly behaviour?: string
  /**
   * For the type `document`: the values of all parameters that setting this one changes, by name.
   * @throws CommandError for an invalid value
   */
  parse?(value: RawValue, host: Owner): Iterable<readonly [name: string, ParameterValue]>
  /** For the type `document`. */
  write?(writer: DocumentWriter, name: string, host: Owner): void
}

export function writeParameter(
  writer: DocumentWriter,
  name: string,
  row: ParameterRow,
  value: ParameterValue,
  host: ParameterOwner,
): void {
  switch (row.type) {
    case 'bool':
      writer.bool(name, value as boolean)
      return
    case 'int':
      writer.int32(name, value as number)
      return
    case 'long':
      writer.int64(name, value as number)
      return
    case 'double':
      writer.double(name, value as number)
      return
    case 'string':
      writer.string(name, value as string)
      return
    case 'strings':
      writer.startArray(name)
      ;(value as readonly string[]).forEach((each, i) => writer.string(String(i), each))
      writer.end()
      return
    case 'document':
      row.write!(writer, name, host)
  }
}

/** @throws CommandError 2 BadValue for an invalid value or one that is out of bounds */
export function parseParameter(row: ParameterRow, value: RawValue): ParameterValue {
  const parsed = coerce(row, value)
  if (typeof parsed === 'number') {
    if (row.min !== undefined && parsed < row.min) throw outOfBounds(row, parsed, 'greater than or equal to', row.min)
    if (row.max !== undefined && parsed > row.max) throw outOfBounds(row, parsed, 'less than or equal to', row.max)
    if (row.above !== undefined && !(parsed > row.above)) throw outOfBounds(row, parsed, 'greater than', row.above)
    if (row.below !== undefined && !(parsed < row.below)) throw outOfBounds(row, parsed, 'less than', row.below)
  }
  if (row.values !== undefined && !row.values.includes(parsed as string))
    throw new CommandError('BadValue', `Unrecognized ${row.name} '${String(parsed)}'`)
  return parsed
}

/** Server: BSONElement::tryCoerce. */
function coerce(row: ParameterRow, value: RawValue): ParameterValue {
  switch (row.type) {
    case 'bool':
      if (value.type === BsonType.bool || value.isNumber()) return value.isTruthy()
      break
    case 'int':
    case 'long':
      return integer(value, row.type === 'int' ? 2 ** 31 : 2 ** 63)
    case 'double':
      if (value.isNumber()) return value.asNumber()
      break
    case 'string':
      if (value.type === BsonType.string) return value.asString()
      break
    default:
  }
  throw new CommandError('BadValue', 'Unable to coerce value to correct type')
}

function integer(value: RawValue, limit: number): number {
  if (value.type === BsonType.bool) return value.asBool() ? 1 : 0
  if (!value.isNumber()) throw new CommandError('BadValue', 'Unable to coerce value to integral type')
  const number = value.type === BsonType.decimal128 ? Number(decimalText(value)) : value.asNumber()
  if (!Number.isFinite(number)) throw new CommandError('BadValue', 'Unable to coerce NaN/Inf to integral type')
  const whole = Math.trunc(number)
  if (whole >= limit || whole < -limit) throw new CommandError('BadValue', 'Out of bounds coercing to integral value')
  return whole
}

/** @throws CommandError the row's refusal */
export function refuseValue({ refusal }: ParameterRow, value: ParameterValue): void {
  if (refusal !== undefined && value !== refusal.accepts) throw new CommandError(refusal.code, refusal.message)
}

function outOfBounds(row: ParameterRow, value: number, relation: string, bound: number): CommandError {
  return new CommandError('BadValue', `Invalid value for parameter ${row.name}: ${value} is not ${relation} ${bound}`)
}
