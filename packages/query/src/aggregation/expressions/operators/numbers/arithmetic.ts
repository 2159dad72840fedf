import { BsonType, CommandError, doubleValue, int32Value, int64Value, nullValue, type RawValue } from '@shardlab/bson'
import {
  addNumbers,
  fitsInt64,
  multiplyNumbers,
  subtractNumbers,
  toNumber,
  truncateToInt64,
} from '../../../../values/arithmetic.js'
import { dateValue } from '../../../../values/build.js'
import {
  divideDecimals,
  negateDecimal,
  remainderOfDecimals,
  roundDecimal,
} from '../../../../values/decimals/decimal.js'
import { operator, typeOf, unary } from '../../arguments.js'
import type { ExpressionOperator } from '../../expression.js'

const isDate = (value: RawValue | undefined) => value?.type === BsonType.date

/** Doubles round half away from zero, decimals half to even. */
function millis(value: RawValue): bigint {
  const rounded =
    value.type === BsonType.double
      ? doubleValue(Math.sign(value.asNumber()) * Math.round(Math.abs(value.asNumber())))
      : value.type === BsonType.decimal128
        ? roundDecimal(value, 0, 'half-even')
        : value
  const integer = truncateToInt64(rounded)
  if (integer === null) throw new CommandError('Overflow', 'date overflow')
  return integer
}

function shiftDate(date: RawValue, by: bigint): RawValue {
  const shifted = date.asBigInt() + by
  if (!fitsInt64(shifted)) throw new CommandError('Overflow', 'date overflow')
  return dateValue(shifted)
}

/** At most one operand is a date. Each number is rounded before it is added to the date. */
export function add(operands: readonly (RawValue | undefined)[]): RawValue {
  let sum: RawValue = int32Value(0)
  let date: RawValue | null = null
  for (const operand of operands) {
    if (operand === undefined || operand.isNullish()) return nullValue
    if (isDate(operand)) {
      if (date !== null) throw new CommandError(16612, 'only one date allowed in an $add expression')
      date = shiftDate(operand, millis(sum))
    } else if (!operand.isNumber())
      throw new CommandError('TypeMismatch', `$add only supports numeric or date types, not ${typeOf(operand)}`)
    else if (date !== null) date = shiftDate(date, millis(operand))
    else sum = addNumbers(sum, operand, 'double')!
  }
  return date ?? sum
}

function negate(value: RawValue): RawValue {
  return value.type === BsonType.decimal128 ? negateDecimal(value) : multiplyNumbers(value, int32Value(-1), 'double')!
}

/** Dates differ by milliseconds. */
export function subtract([left, right]: readonly (RawValue | undefined)[]): RawValue {
  if (left === undefined || right === undefined || left.isNullish() || right.isNullish()) return nullValue
  if (left.isNumber() && right.isNumber()) return subtractNumbers(left, right)
  if (isDate(left) && isDate(right)) return int64Value(left.asBigInt() - right.asBigInt())
  if (isDate(left) && right.isNumber()) return shiftDate(left, -millis(right))
  throw new CommandError(
    'TypeMismatch',
    `can't $subtract ${typeOf(right)} from ${isDate(left) ? 'Date' : typeOf(left)}`,
  )
}

export function multiply(operands: readonly (RawValue | undefined)[]): RawValue {
  let product: RawValue = int32Value(1)
  for (const operand of operands) {
    if (operand === undefined || operand.isNullish()) return nullValue
    if (!operand.isNumber())
      throw new CommandError('TypeMismatch', `$multiply only supports numeric types, not ${typeOf(operand)}`)
    product = multiplyNumbers(product, operand, 'double')!
  }
  return product
}

/** @throws CommandError BadValue (2) for a zero divisor */
export function divide([left, right]: readonly (RawValue | undefined)[]): RawValue {
  if (left === undefined || right === undefined || left.isNullish() || right.isNullish()) return nullValue
  if (!left.isNumber() || !right.isNumber())
    throw new CommandError(
      'TypeMismatch',
      `$divide only supports numeric types, not ${typeOf(left)} and ${typeOf(right)}`,
    )
  const byZero = () => new CommandError('BadValue', "can't $divide by zero")
  if (left.type === BsonType.decimal128 || right.type === BsonType.decimal128) {
    const quotient = divideDecimals(left, right)
    if (quotient === null) throw byZero()
    return quotient
  }
  if (right.asNumber() === 0) throw byZero()
  return doubleValue(left.asNumber() / right.asNumber())
}

export function mod([left, right]: readonly (RawValue | undefined)[]): RawValue {
  if (left === undefined || right === undefined || left.isNullish() || right.isNullish()) return nullValue
  if (!left.isNumber() || !right.isNumber())
    throw new CommandError(16611, `$mod only supports numeric types, not ${typeOf(left)} and ${typeOf(right)}`)
  const isDecimal = left.type === BsonType.decimal128 || right.type === BsonType.decimal128
  if (toNumber(right) === 0) throw new CommandError(isDecimal ? 5733415 : 16610, "can't $mod by zero")
  if (isDecimal) return remainderOfDecimals(left, right)!
  if (left.type === BsonType.double || right.type === BsonType.double)
    return doubleValue(left.asNumber() % right.asNumber())
  const remainder = left.asBigInt() % right.asBigInt()
  return left.type === BsonType.int64 || right.type === BsonType.int64
    ? int64Value(remainder)
    : int32Value(Number(remainder))
}

function abs(value: RawValue | undefined): RawValue {
  if (value === undefined || value.isNullish()) return nullValue
  if (!value.isNumber()) throw new CommandError(28765, `$abs only supports numeric types, not ${typeOf(value)}`)
  if (value.type === BsonType.int64 && !fitsInt64(-value.asBigInt()))
    throw new CommandError(28680, "can't take $abs of long long min")
  if (value.type === BsonType.double) return doubleValue(Math.abs(value.asNumber()))
  return toNumber(value) < 0 ? negate(value) : value
}

export const arithmeticExpressions: readonly ExpressionOperator[] = [
  operator('$add', 0, Infinity, add),
  operator('$subtract', 2, 2, subtract),
  operator('$multiply', 0, Infinity, multiply),
  operator('$divide', 2, 2, divide),
  operator('$mod', 2, 2, mod),
  unary('$abs', abs),
]
