/** $concat, $toLower, $toUpper, $strLenCP, $strLenBytes. */
import { asBuffer, BsonType, CommandError, fromRawValue, int32Value, nullValue, stringValue, type RawValue } from '@shardlab/bson'
import { formatValue } from '../../../values/format.js'
import { operator, typeOf, unary } from '../arguments.js'
import type { ExpressionOperator } from '../expression.js'

function concat(operands: readonly (RawValue | undefined)[]): RawValue {
  let text = ''
  for (const operand of operands) {
    if (operand === undefined || operand.isNullish()) return nullValue
    if (operand.type !== BsonType.string) throw new CommandError(16702, `$concat only supports strings, not ${typeOf(operand)}`)
    text += operand.asString()
  }
  return stringValue(text)
}

/** What `$toString` gives; null for types that have no text. */
export function textOf(value: RawValue): string | null {
  switch (value.type) {
    case BsonType.string:
    case BsonType.symbol:
    case BsonType.code:
      return value.asString()
    case BsonType.int32:
    case BsonType.int64:
      return String(value.asBigInt())
    case BsonType.double: {
      const number = value.asNumber()
      return Number.isFinite(number) ? String(number) : Number.isNaN(number) ? 'NaN' : number > 0 ? 'Infinity' : '-Infinity'
    }
    case BsonType.decimal128:
      return String(fromRawValue(value))
    case BsonType.bool:
      return String(value.asBool())
    case BsonType.objectId:
      return asBuffer(value.bytes).toString('hex', value.start, value.end)
    case BsonType.date:
      return isoDate(value)
    default:
      return null
  }
}

function isoDate(value: RawValue): string {
  const ms = Number(value.asBigInt())
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? formatValue(value) : date.toISOString()
}

/** Case conversion knows ASCII letters only, as the server's. */
function asciiCase(name: string, pattern: RegExp, convert: (letter: string) => string): ExpressionOperator {
  return unary(name, (value) => {
    if (value === undefined || value.isNullish()) return stringValue('')
    const text = textOf(value)
    if (text === null) throw new CommandError(16007, `can't convert from BSON type ${typeOf(value)} to String`)
    return stringValue(text.replace(pattern, convert))
  })
}

function stringLength(name: string, code: number, length: (text: string) => number): ExpressionOperator {
  return unary(name, (value) => {
    if (value?.type !== BsonType.string) throw new CommandError(code, `${name} requires a string argument, found: ${typeOf(value)}`)
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
