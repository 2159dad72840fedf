/** $convert and its short forms $toInt, $toLong, $toDouble, $toDecimal, $toBool, $toString, $toDate, $toObjectId. */
import {
  boolValue,
  BsonType,
  CommandError,
  Decimal128,
  doubleValue,
  int32Value,
  int64Value,
  nullValue,
  RawValue,
  readUint32,
  stringValue,
  toRawValue,
  typeName,
} from '@shardlab/bson'
import { exactInteger, fitsInt64, toNumber, truncateToInt64 } from '../../../values/arithmetic.js'
import { dateValue } from '../../../values/build.js'
import { toDecimal } from '../../../values/decimal.js'
import { formatValue } from '../../../values/format.js'
import { typeOfAlias } from '../../../values/type-alias.js'
import { parseIsoDate } from '../../../values/date-parse.js'
import { isNullish, namedOperands, typeOf, unary } from '../arguments.js'
import type { Expression, ExpressionCompiler, ExpressionOperator } from '../expression.js'
import { computed } from '../expression.js'
import { textOf } from './string.js'

const suffix = 'in $convert with no onError value'

const failed = (message: string) => new CommandError('ConversionFailure', message)

function unsupported(value: RawValue, target: number): CommandError {
  return failed(`Unsupported conversion from ${typeOf(value)} to ${typeName(target)} ${suffix}`)
}

function unparsed(text: string, why: string): CommandError {
  return failed(`Failed to parse number '${text}' ${suffix}: ${why}`)
}

function toInteger(value: RawValue, target: number): RawValue {
  const fits = (integer: bigint) => (target === BsonType.int32 ? BigInt.asIntN(32, integer) === integer : fitsInt64(integer))
  const build = (integer: bigint) => (target === BsonType.int32 ? int32Value(Number(integer)) : int64Value(integer))
  if (value.type === BsonType.bool) return build(value.asBool() ? 1n : 0n)
  if (value.type === BsonType.date && target === BsonType.int64) return int64Value(value.asBigInt())
  if (value.type === BsonType.string) {
    const text = value.asString()
    if (!/^[+-]?\d+$/.test(text)) throw unparsed(text, text === '' ? 'Empty string' : 'Did not consume whole string.')
    const integer = BigInt(text.replace('+', ''))
    if (!fits(integer)) throw unparsed(text, 'Overflow')
    return build(integer)
  }
  if (!value.isNumber()) throw unsupported(value, target)
  const number = toNumber(value)
  if (Number.isNaN(number)) throw failed(`Attempt to convert NaN value to integer type ${suffix}`)
  if (!Number.isFinite(number)) throw failed(`Attempt to convert infinity value to integer type ${suffix}`)
  const integer = truncateToInt64(value)
  if (integer === null || !fits(integer)) throw failed(`Conversion would overflow target type ${suffix}: ${formatValue(value)}`)
  return build(integer)
}

const numberText = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const specialText = /^[+-]?(inf|infinity|nan)$/i

function toDoubleValue(value: RawValue): RawValue {
  if (value.type === BsonType.bool) return doubleValue(value.asBool() ? 1 : 0)
  if (value.type === BsonType.date) return doubleValue(Number(value.asBigInt()))
  if (value.type === BsonType.string) {
    const text = value.asString()
    if (specialText.test(text)) return doubleValue(/nan/i.test(text) ? Number.NaN : text.startsWith('-') ? -Infinity : Infinity)
    if (!numberText.test(text)) throw unparsed(text, text === '' ? 'Empty string' : 'Did not consume whole string.')
    if (!Number.isFinite(Number(text))) throw unparsed(text, 'Out of range')
    return doubleValue(Number(text))
  }
  if (!value.isNumber()) throw unsupported(value, BsonType.double)
  const number = toNumber(value)
  if (value.type === BsonType.decimal128 && !Number.isFinite(number) && /\d/.test(formatValue(value)))
    throw failed(`Conversion would overflow target type ${suffix}: ${formatValue(value)}`)
  return doubleValue(number)
}

function toDecimalValue(value: RawValue): RawValue {
  if (value.type === BsonType.decimal128) return value
  if (value.type === BsonType.bool) return toDecimal(int32Value(value.asBool() ? 1 : 0))
  if (value.type === BsonType.date) return toDecimal(int64Value(value.asBigInt()))
  if (value.type === BsonType.string) {
    const text = value.asString()
    if (!numberText.test(text) && !specialText.test(text))
      throw unparsed(text, text === '' ? 'Empty string' : 'Did not consume whole string.')
    return toRawValue(Decimal128.fromStringWithRounding(text))
  }
  if (!value.isNumber()) throw unsupported(value, BsonType.decimal128)
  return toDecimal(value)
}

function toDateValue(value: RawValue): RawValue {
  switch (value.type) {
    case BsonType.date:
      return value
    case BsonType.int64:
    case BsonType.double:
    case BsonType.decimal128:
      return dateValue(toInteger(value, BsonType.int64).asBigInt())
    case BsonType.objectId:
      return dateValue(
        (((value.bytes[value.start]! << 24) |
          (value.bytes[value.start + 1]! << 16) |
          (value.bytes[value.start + 2]! << 8) |
          value.bytes[value.start + 3]!) >>>
          0) *
          1000,
      )
    case BsonType.timestamp:
      return dateValue(readUint32(value.bytes, value.start + 4) * 1000)
    case BsonType.string:
      return dateValue(parseIsoDate(value.asString(), null))
    default:
      throw unsupported(value, BsonType.date)
  }
}

function toObjectIdValue(value: RawValue): RawValue {
  if (value.type === BsonType.objectId) return value
  if (value.type !== BsonType.string) throw unsupported(value, BsonType.objectId)
  const text = value.asString()
  const complain = (why: string) => failed(`Failed to parse objectId '${text}' ${suffix}: ${why}`)
  if (text.length !== 24) throw complain(`Invalid string length for parsing to OID, expected 24 but found ${text.length}`)
  if (!/^[0-9a-f]*$/i.test(text)) throw complain(`Invalid character found in hex string: ${text}`)
  return new RawValue(BsonType.objectId, Buffer.from(text, 'hex'), 0, 12)
}

function toBoolValue(value: RawValue): RawValue {
  // Strings, dates and all that has no falsehood of its own are true.
  return boolValue(value.isTruthy())
}

function toText(value: RawValue): RawValue {
  const text = value.type === BsonType.symbol || value.type === BsonType.code ? null : textOf(value)
  if (text === null) throw unsupported(value, BsonType.string)
  return stringValue(text)
}

const converters: ReadonlyMap<number, (value: RawValue) => RawValue> = new Map([
  [BsonType.double, toDoubleValue],
  [BsonType.string, toText],
  [BsonType.objectId, toObjectIdValue],
  [BsonType.bool, toBoolValue],
  [BsonType.date, toDateValue],
  [BsonType.int32, (value: RawValue) => toInteger(value, BsonType.int32)],
  [BsonType.int64, (value: RawValue) => toInteger(value, BsonType.int64)],
  [BsonType.decimal128, toDecimalValue],
])

function convert(value: RawValue, target: number): RawValue {
  const converter = converters.get(target)
  if (converter === undefined) throw unsupported(value, target)
  return converter(value)
}

/** The `to` of $convert: an alias or a number; null for nothing. */
function targetOf(to: RawValue | undefined): number | null {
  if (to === undefined || to.isNullish()) return null
  if (to.type === BsonType.string) {
    const type = typeOfAlias(to.asString())
    if (type === undefined) throw new CommandError('BadValue', `Unknown type name: ${to.asString()}`)
    return type
  }
  if (!to.isNumber()) throw new CommandError('FailedToParse', `$convert's 'to' argument must be a string or number, but is ${typeOf(to)}`)
  const integer = exactInteger(to)
  if (integer === null) throw new CommandError('FailedToParse', "In $convert, numeric 'to' argument is not an integer")
  if (typeName(Number(integer)).startsWith('unknown'))
    throw new CommandError('FailedToParse', `In $convert, numeric value for 'to' does not correspond to a BSON type: ${integer}`)
  return Number(integer)
}

function compileConvert(argument: RawValue, compiler: ExpressionCompiler): Expression {
  const [input, to, onError, onNull] = namedOperands(
    {
      fields: ['input', 'to', 'onError', 'onNull'],
      required: { input: [9, "Missing 'input' parameter to $convert"], to: [9, "Missing 'to' parameter to $convert"] },
      notObject: (type) => new CommandError('FailedToParse', `$convert expects an object of named arguments but found: ${type}`),
      unknown: (field) => new CommandError('FailedToParse', `$convert found an unknown argument: ${field}`),
    },
    argument,
    compiler,
  )
  const operands = [input!, to!, onError, onNull].filter((operand) => operand !== null && operand !== undefined)
  return computed(operands, (frame) => {
    const value = input!.evaluate(frame)
    const target = targetOf(to!.evaluate(frame))
    if (value === undefined || value.isNullish()) return onNull ? onNull.evaluate(frame) : nullValue
    if (target === null) return nullValue
    try {
      return convert(value, target)
    } catch (error) {
      if (onError && error instanceof CommandError) return onError.evaluate(frame)
      throw error
    }
  })
}

function short(name: string, target: number): ExpressionOperator {
  return unary(name, (value) => (isNullish(value) ? nullValue : convert(value!, target)))
}

export const conversionExpressions: readonly ExpressionOperator[] = [
  {
    name: '$convert',
    manualPage: 'aggregation/convert',
    status: 'partial',
    note: 'no conversions to or from binary data, no format or byteOrder (8.0)',
    compile: compileConvert,
  },
  short('$toInt', BsonType.int32),
  short('$toLong', BsonType.int64),
  short('$toDouble', BsonType.double),
  short('$toDecimal', BsonType.decimal128),
  short('$toBool', BsonType.bool),
  short('$toString', BsonType.string),
  short('$toDate', BsonType.date),
  short('$toObjectId', BsonType.objectId),
]
