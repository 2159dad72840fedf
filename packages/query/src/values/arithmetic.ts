/**
 * The server's type rules: an int32 result that overflows becomes an int64, a double operand makes
 * the result a double, a decimal operand makes it a decimal.
 */
import { BsonType, doubleValue, int32Value, int64Value, type RawValue } from '@shardlab/bson'
import { addDecimals, decimalToNumber, multiplyDecimals, negateDecimal, truncateDecimal } from './decimals/decimal.js'

/** The result of an int64 overflow: null (`fail`, updates) or a double (`double`, aggregation). */
export type OverflowRule = 'fail' | 'double'

export function addNumbers(a: RawValue, b: RawValue, overflow: OverflowRule): RawValue | null {
  if (a.type === BsonType.decimal128 || b.type === BsonType.decimal128) return addDecimals(a, b)
  if (a.type === BsonType.double || b.type === BsonType.double) return doubleValue(a.asNumber() + b.asNumber())
  if (a.type === BsonType.int32 && b.type === BsonType.int32) return smallestInteger(a.asNumber() + b.asNumber())
  return int64OrOverflow(a.asBigInt() + b.asBigInt(), overflow, () => a.asNumber() + b.asNumber())
}

/** An int64 that overflows becomes a double. */
export function subtractNumbers(a: RawValue, b: RawValue): RawValue {
  if (a.type === BsonType.decimal128 || b.type === BsonType.decimal128) return addDecimals(a, negateDecimal(b))
  if (a.type === BsonType.double || b.type === BsonType.double) return doubleValue(a.asNumber() - b.asNumber())
  if (a.type === BsonType.int32 && b.type === BsonType.int32) return smallestInteger(a.asNumber() - b.asNumber())
  return int64OrOverflow(a.asBigInt() - b.asBigInt(), 'double', () => a.asNumber() - b.asNumber())!
}

export function multiplyNumbers(a: RawValue, b: RawValue, overflow: OverflowRule): RawValue | null {
  if (a.type === BsonType.decimal128 || b.type === BsonType.decimal128) return multiplyDecimals(a, b)
  if (a.type === BsonType.double || b.type === BsonType.double) return doubleValue(a.asNumber() * b.asNumber())
  const product = a.asBigInt() * b.asBigInt()
  if (a.type === BsonType.int32 && b.type === BsonType.int32 && BigInt.asIntN(32, product) === product)
    return int32Value(Number(product))
  return int64OrOverflow(product, overflow, () => a.asNumber() * b.asNumber())
}

/** An int32 if the value fits, else an int64. The value must be an integer below 2^53. */
export function smallestInteger(value: number): RawValue {
  return (value | 0) === value ? int32Value(value) : int64Value(BigInt(value))
}

export function fitsInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value
}

/** @param double computes from operands that are already rounded to doubles, as the server does */
function int64OrOverflow(value: bigint, overflow: OverflowRule, double: () => number): RawValue | null {
  if (fitsInt64(value)) return int64Value(value)
  return overflow === 'double' ? doubleValue(double()) : null
}

/** The nearest double, also of a decimal128. */
export function toNumber(value: RawValue): number {
  return value.type === BsonType.decimal128 ? decimalToNumber(value) : value.asNumber()
}

/** Null: NaN, infinite or out of the range of int64. */
export function truncateToInt64(value: RawValue): bigint | null {
  if (value.type === BsonType.int32 || value.type === BsonType.int64) return value.asBigInt()
  if (value.type === BsonType.decimal128) {
    const truncated = truncateDecimal(value)
    return truncated !== null && fitsInt64(truncated) ? truncated : null
  }
  const number = Math.trunc(value.asNumber())
  if (!Number.isFinite(number)) return null
  const integer = BigInt(number)
  return fitsInt64(integer) ? integer : null
}

/** Null: not a number, has a fraction or is out of the range of int64. */
export function exactInteger(value: RawValue): bigint | null {
  const truncated = value.isNumber() ? truncateToInt64(value) : null
  if (truncated === null) return null
  if (value.type === BsonType.double && Number(truncated) !== value.asNumber()) return null
  if (value.type === BsonType.decimal128 && decimalToNumber(value) !== Number(truncated)) return null
  return truncated
}
