/** Server: `ConversionTable` of `expression.cpp`, `NumberParser` for text. */
import {
  BsonType,
  CommandError,
  decimalValue,
  doubleValue,
  int32Value,
  int64Value,
  type RawValue,
} from '@shardlab/bson'
import { fitsInt64, toNumber, truncateToInt64 } from '../../../../values/arithmetic.js'
import { toDecimal } from '../../../../values/decimals/decimal.js'
import { formatEvaluated } from '../../../../values/format.js'

const suffix = 'in $convert with no onError value'

export const conversionFailure = (message: string) => new CommandError('ConversionFailure', message)

const overflow = (text: string) => conversionFailure(`Conversion would overflow target type ${suffix}: ${text}`)

function unparsed(text: string, why: string): CommandError {
  return conversionFailure(`Failed to parse number '${text}' ${suffix}: ${why}`)
}

function checkHexadecimal(text: string): void {
  if (/^0x/i.test(text)) throw conversionFailure(`Illegal hexadecimal input ${suffix}: ${text}`)
}

function integerOfText(text: string, fits: (integer: bigint) => boolean): bigint {
  checkHexadecimal(text)
  const digits = /^[+-]/.test(text) ? text.slice(1) : text
  if (digits === '') throw unparsed(text, 'No digits')
  if (!/^\d+$/.test(digits)) throw unparsed(text, 'Did not consume whole string.')
  const integer = BigInt(text.startsWith('-') ? `-${digits}` : digits)
  if (!fits(integer)) throw unparsed(text, 'Overflow')
  return integer
}

function integerOfNumber(value: RawValue, fits: (integer: bigint) => boolean): bigint {
  const number = toNumber(value)
  if (Number.isNaN(number)) throw conversionFailure(`Attempt to convert NaN value to integer type ${suffix}`)
  if (!Number.isFinite(number) && (value.type === BsonType.double || /inf/i.test(formatEvaluated(value))))
    throw conversionFailure(`Attempt to convert infinity value to integer type ${suffix}`)
  const integer = truncateToInt64(value)
  // The server's message leaves the value out for a long.
  if (integer === null || !fits(integer)) throw overflow(value.type === BsonType.int64 ? '' : formatEvaluated(value))
  return integer
}

/** Undefined: the type cannot be converted. */
function integer(value: RawValue, fits: (integer: bigint) => boolean): bigint | undefined {
  if (value.type === BsonType.bool) return value.asBool() ? 1n : 0n
  if (value.type === BsonType.string) return integerOfText(value.asString(), fits)
  return value.isNumber() ? integerOfNumber(value, fits) : undefined
}

export function toInt32(value: RawValue): RawValue | undefined {
  const result = integer(value, (given) => BigInt.asIntN(32, given) === given)
  return result === undefined ? undefined : int32Value(Number(result))
}

export function toInt64(value: RawValue): RawValue | undefined {
  if (value.type === BsonType.date) return int64Value(value.asBigInt())
  const result = integer(value, fitsInt64)
  return result === undefined ? undefined : int64Value(result)
}

const numberText = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const specialText = /^[+-]?(inf|infinity|nan)$/i

function checkNumberText(text: string): void {
  checkHexadecimal(text)
  if (text === '') throw unparsed(text, 'Empty string')
  if (/^\s/.test(text)) throw unparsed(text, 'Leading whitespace')
  if (numberText.test(text) || specialText.test(text)) return
  throw unparsed(
    text,
    /^[+-]?\.?\d|^[+-]?(inf|nan)/i.test(text) ? 'Did not consume whole string.' : 'Did not consume any digits',
  )
}

function doubleOfText(text: string): number {
  checkNumberText(text)
  if (specialText.test(text)) return /nan/i.test(text) ? Number.NaN : text.startsWith('-') ? -Infinity : Infinity
  const number = Number(text)
  const isUnderflow = number === 0 && /[1-9]/.test(text.split(/e/i)[0]!)
  if (!Number.isFinite(number) || isUnderflow) throw unparsed(text, 'Out of range')
  return number
}

export function toDouble(value: RawValue): RawValue | undefined {
  if (value.type === BsonType.bool) return doubleValue(value.asBool() ? 1 : 0)
  if (value.type === BsonType.date) return doubleValue(Number(value.asBigInt()))
  if (value.type === BsonType.string) return doubleValue(doubleOfText(value.asString()))
  if (!value.isNumber()) return undefined
  const number = toNumber(value)
  if (value.type === BsonType.decimal128) {
    const text = formatEvaluated(value)
    const isLost = (!Number.isFinite(number) && /\d/.test(text)) || (number === 0 && /[1-9]/.test(text.split('E')[0]!))
    if (isLost) throw overflow(text)
  }
  return doubleValue(number)
}

export function toDecimal128(value: RawValue): RawValue | undefined {
  if (value.type === BsonType.bool) return toDecimal(int32Value(value.asBool() ? 1 : 0))
  if (value.type === BsonType.date) return toDecimal(int64Value(value.asBigInt()))
  if (value.type === BsonType.string) {
    const text = value.asString()
    checkHexadecimal(text)
    if (text === '') throw unparsed(text, 'Empty string')
    if (!numberText.test(text) && !specialText.test(text)) throw unparsed(text, 'Failed to parse string to decimal')
    return decimalValue(text)
  }
  return value.isNumber() ? toDecimal(value) : undefined
}
