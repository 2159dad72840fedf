import {
  BsonType,
  CommandError,
  decimalText,
  int32Value,
  nullValue,
  readUint32,
  stringValue,
  type RawValue,
} from '@shardlab/bson'
import { formatDate, months, parseFormat } from '../../../../values/dates/format.js'
import { datePartsAt } from '../../../../values/dates/parts.js'
import { plainDouble } from '../../../../values/format.js'
import { checkValueBytes } from '../../../../values/limits.js'
import { utc } from '../../../../values/dates/time-zone.js'
import { operator, typeOf, unary } from '../../arguments.js'
import type { ExpressionOperator } from '../../expression.js'

function concat(operands: readonly (RawValue | undefined)[]): RawValue {
  let text = ''
  let bytes = 0
  for (const operand of operands) {
    if (operand === undefined || operand.isNullish()) return nullValue
    if (operand.type !== BsonType.string)
      throw new CommandError(16702, `$concat only supports strings, not ${typeOf(operand)}`)
    bytes += operand.end - operand.start
    checkValueBytes('$concat', bytes)
    text += operand.asString()
  }
  return stringValue(text)
}

/** For operands of string operators; '' for null and missing. Server: `Value::coerceToString`. */
export function coerced(value: RawValue | undefined): string {
  if (value === undefined || value.isNullish()) return ''
  switch (value.type) {
    case BsonType.string:
    case BsonType.symbol:
    case BsonType.code:
      return value.asString()
    case BsonType.int32:
    case BsonType.int64:
      return String(value.asBigInt())
    case BsonType.double:
      return plainDouble(value.asNumber())
    case BsonType.decimal128:
      return decimalText(value)
    case BsonType.date:
      return isoDate(value)
    case BsonType.timestamp:
      return prettyTimestamp(value)
    default:
      throw new CommandError(16007, `can't convert from BSON type ${typeOf(value)} to String`)
  }
}

const isoFormat = parseFormat('%Y-%m-%dT%H:%M:%S.%LZ', false)

export function isoDate(value: RawValue): string {
  return formatDate(isoFormat, datePartsAt(Number(value.asBigInt()), utc))
}

/** `Jan  1 00:00:01:a`: the time, and the increment in hexadecimal. */
function prettyTimestamp(value: RawValue): string {
  const parts = datePartsAt(readUint32(value.bytes, value.start + 4) * 1000, utc)
  const date = `${months[parts.month - 1]!.slice(0, 3)} ${String(parts.dayOfMonth).padStart(2, ' ')}`
  return `${date} ${formatDate(timeFormat, parts)}:${readUint32(value.bytes, value.start).toString(16)}`
}

const timeFormat = parseFormat('%H:%M:%S', false)

/** Only ASCII letters, as on the server. */
function asciiCase(name: string, pattern: RegExp, convert: (letter: string) => string): ExpressionOperator {
  return unary(name, (value) => stringValue(coerced(value).replace(pattern, convert)))
}

function stringLength(name: string, code: number, length: (text: string) => number): ExpressionOperator {
  return unary(name, (value) => {
    if (value?.type !== BsonType.string)
      throw new CommandError(code, `${name} requires a string argument, found: ${typeOf(value)}`)
    return int32Value(length(value.asString()))
  })
}

export const stringExpressions: readonly ExpressionOperator[] = [
  operator('$concat', 0, Infinity, concat),
  asciiCase('$toLower', /[A-Z]/g, (letter) => letter.toLowerCase()),
  asciiCase('$toUpper', /[a-z]/g, (letter) => letter.toUpperCase()),
  stringLength('$strLenCP', 34471, (text) => Array.from(text).length),
  stringLength('$strLenBytes', 34473, (text) => Buffer.byteLength(text)),
]
