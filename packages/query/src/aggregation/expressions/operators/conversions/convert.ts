import {
  asBuffer,
  boolValue,
  BsonType,
  CommandError,
  decimalText,
  findField,
  isBsonType,
  nullValue,
  RawValue,
  stringValue,
  typeName,
} from '@shardlab/bson'
import { exactInteger } from '../../../../values/arithmetic.js'
import { dateValue } from '../../../../values/build.js'
import { parseIsoDate } from '../../../../values/dates/parse.js'
import { formatEvaluated, shortestDouble } from '../../../../values/format.js'
import { typeOfAlias } from '../../../../values/type-alias.js'
import { isNullish, namedOperands, typeOf, unary } from '../../arguments.js'
import { computed, type Expression, type ExpressionCompiler, type ExpressionOperator } from '../../expression.js'
import { binaryFormats, binaryOfText, textOfBinary, type BinaryFormat } from './binary.js'
import { conversionFailure, toDecimal128, toDouble, toInt32, toInt64 } from './numbers.js'
import { instantOfValue } from '../dates/parts.js'
import { isoDate } from '../strings/string.js'
import { newestLanguage } from '../../../../language/language.js'

const suffix = 'in $convert with no onError value'

function toDateValue(value: RawValue): RawValue | undefined {
  switch (value.type) {
    case BsonType.int64:
    case BsonType.double:
    case BsonType.decimal128:
      return dateValue(toInt64(value)!.asBigInt())
    case BsonType.objectId:
    case BsonType.timestamp:
      return dateValue(instantOfValue(value)!)
    case BsonType.string:
      return dateValue(parseIsoDate(value.asString(), null))
    default:
      return undefined
  }
}

function toObjectIdValue(value: RawValue): RawValue | undefined {
  if (value.type !== BsonType.string) return undefined
  const text = value.asString()
  const complain = (why: string) => conversionFailure(`Failed to parse objectId '${text}' ${suffix}: ${why}`)
  const length = Buffer.byteLength(text)
  if (length !== 24) throw complain(`Invalid string length for parsing to OID, expected 24 but found ${length}`)
  if (!/^[0-9a-f]*$/i.test(text)) throw complain(`Invalid character found in hex string: ${text}`)
  return new RawValue(BsonType.objectId, Buffer.from(text, 'hex'), 0, 12)
}

function toText(value: RawValue): RawValue | undefined {
  switch (value.type) {
    case BsonType.int32:
    case BsonType.int64:
      return stringValue(String(value.asBigInt()))
    case BsonType.double:
      return stringValue(shortestDouble(value.asNumber()))
    case BsonType.decimal128:
      return stringValue(decimalText(value))
    case BsonType.bool:
      return stringValue(String(value.asBool()))
    case BsonType.objectId:
      return stringValue(asBuffer(value.bytes).toString('hex', value.start, value.end))
    case BsonType.date:
      return stringValue(isoDate(value))
    default:
      return undefined
  }
}

/** A converter returns undefined for types that it cannot convert. */
const converters: ReadonlyMap<number, (value: RawValue) => RawValue | undefined> = new Map([
  [BsonType.double, toDouble],
  [BsonType.string, toText],
  [BsonType.objectId, toObjectIdValue],
  // Only false, 0 and null are falsy.
  [BsonType.bool, (value: RawValue) => boolValue(value.isTruthy())],
  [BsonType.date, toDateValue],
  [BsonType.int32, toInt32],
  [BsonType.int64, toInt64],
  [BsonType.decimal128, toDecimal128],
])

interface Target {
  readonly type: number
  /** For binary data. */
  readonly subtype: number
}

function convert(value: RawValue, target: Target, format: BinaryFormat | null): RawValue {
  const { type } = target
  if (type === BsonType.binary || (value.type === BsonType.binary && type === BsonType.string)) {
    if (value.type === type) return value
    if (value.type === BsonType.string || type === BsonType.string) {
      if (format === null)
        throw new CommandError(
          4341115,
          `Format must be speficied when converting from '${typeOf(value)}' to '${typeName(type)}'`,
        )
      return type === BsonType.string ? textOfBinary(value, format) : binaryOfText(value, format, target.subtype)
    }
  }
  const isConvertible = value.type !== BsonType.minKey && value.type !== BsonType.maxKey
  if (value.type === type && isConvertible && converters.has(type)) return value
  const result = isConvertible || type === BsonType.bool ? converters.get(type)?.(value) : undefined
  if (result === undefined)
    throw conversionFailure(`Unsupported conversion from ${typeOf(value)} to ${typeName(type)} ${suffix}`)
  return result
}

/** Null if it is null or missing. */
function typeOfTarget(to: RawValue | undefined): number | null {
  if (to === undefined || to.isNullish()) return null
  if (to.type === BsonType.string) {
    const type = typeOfAlias(to.asString())
    if (type === undefined) throw new CommandError('BadValue', `Unknown type name: ${to.asString()}`)
    return type
  }
  if (!to.isNumber())
    throw new CommandError('FailedToParse', `$convert's 'to' argument must be a string or number, but is ${typeOf(to)}`)
  const integer = exactInteger(to)
  if (integer === null) throw new CommandError('FailedToParse', "In $convert, numeric 'to' argument is not an integer")
  const type = integer === -1n ? BsonType.minKey : Number(integer)
  if (type <= 0 || (type === BsonType.minKey && integer !== -1n) || !isBsonType(type))
    throw new CommandError(
      'FailedToParse',
      `In $convert, numeric value for 'to' does not correspond to a BSON type: ${integer}`,
    )
  return type
}

function subtypeOf(subtype: RawValue): number {
  if (!subtype.isNumber())
    throw new CommandError(
      4341108,
      `For BinData, $convert's 'subtype' argument must be a number, but is ${typeOf(subtype)}`,
    )
  const integer = exactInteger(subtype)
  if (integer === null) throw new CommandError(4341106, "In $convert, numeric 'subtype' argument is not an integer")
  const code = Number(integer)
  if (!((code >= 0 && code <= 8) || (code >= 128 && code <= 255)))
    throw new CommandError(
      4341107,
      `In $convert, numeric value for 'subtype' does not correspond to a BinData type: ${code}`,
    )
  return code
}

function formatOf(format: RawValue | undefined): BinaryFormat | null {
  if (format === undefined || format.isNullish()) return null
  if (format.type !== BsonType.string)
    throw new CommandError(
      4341114,
      `$convert requires that 'format' be a string, found: ${typeOf(format)} with value ${formatEvaluated(format)}`,
    )
  const text = format.asString()
  if (!binaryFormats.includes(text)) throw new CommandError(4341125, `Invalid 'format' argument for $convert: ${text}`)
  return text as BinaryFormat
}

/** Since 8.0 also an object with `type` and `subtype`. Null if it is null or missing. */
function targetOf(to: RawValue | undefined, knowsObjects: boolean): Target | null {
  const isObject = knowsObjects && to?.type === BsonType.object
  const inner = isObject ? findField(to.bytes, 'type', to.start) : undefined
  const type = typeOfTarget(inner ?? to)
  if (type === null) return null
  const subtype = isObject ? findField(to.bytes, 'subtype', to.start) : undefined
  return { type, subtype: subtype === undefined ? 0 : subtypeOf(subtype) }
}

function compileConvert(argument: RawValue, compiler: ExpressionCompiler): Expression {
  const knowsBinary = (compiler.context.language ?? newestLanguage).has('form', 'binaryConversions')
  const [input, to, onError, onNull, format] = namedOperands(
    {
      fields: ['input', 'to', 'onError', 'onNull', ...(knowsBinary ? ['format'] : [])],
      required: { input: [9, "Missing 'input' parameter to $convert"], to: [9, "Missing 'to' parameter to $convert"] },
      notObject: (type) =>
        new CommandError('FailedToParse', `$convert expects an object of named arguments but found: ${type}`),
      unknown: (field) => new CommandError('FailedToParse', `$convert found an unknown argument: ${field}`),
    },
    argument,
    compiler,
  )
  const operands = [input!, to!, onError, onNull, format].filter((operand) => operand !== null && operand !== undefined)
  return computed(operands, (frame) => {
    const value = input!.evaluate(frame)
    const target = targetOf(to!.evaluate(frame), knowsBinary)
    if (value === undefined || value.isNullish()) return onNull ? onNull.evaluate(frame) : nullValue
    if (target === null) return nullValue
    const binaryFormat = formatOf(format?.evaluate(frame))
    try {
      return convert(value, target, binaryFormat)
    } catch (error) {
      if (onError && error instanceof CommandError && error.codeName === 'ConversionFailure')
        return onError.evaluate(frame)
      throw error
    }
  })
}

function short(name: string, type: number, format: BinaryFormat | null = null, subtype = 0): ExpressionOperator {
  return unary(name, (value) => (isNullish(value) ? nullValue : convert(value!, { type, subtype }, format)))
}

export const conversionExpressions: readonly ExpressionOperator[] = [
  { name: '$convert', manualPage: 'aggregation/convert', status: 'complete', compile: compileConvert },
  short('$toInt', BsonType.int32),
  short('$toLong', BsonType.int64),
  short('$toDouble', BsonType.double),
  short('$toDecimal', BsonType.decimal128),
  short('$toBool', BsonType.bool),
  short('$toString', BsonType.string, 'auto'),
  short('$toDate', BsonType.date),
  short('$toObjectId', BsonType.objectId),
  { ...short('$toUUID', BsonType.binary, 'uuid', 4) },
]
