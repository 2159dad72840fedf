/**
 * The order of BSON's four number types, without loss of precision.
 *
 * The *floor* of a number is the largest double that is not greater. Numbers with different floors
 * compare as their floors. Of equal floors, one that equals its floor is the smallest; two that do
 * not are decimal fractions of finite length and compare digit by digit. Doubles, int32 and int64
 * within 53 bits equal their floors: hot paths use only double arithmetic.
 */
import { readDecimal128, type Decimal } from '../values/decimal128.js'
import type { RawValue } from '../values/raw-value.js'
import { readDouble, readInt32, readInt64, readInt64Number, readUint32 } from '../bytes/little-endian.js'
import { BsonType } from '../values/types.js'

export type Finite = Extract<Decimal, { kind: 'finite' }>

export interface NumberFloor {
  /** NaN stays NaN; minus zero becomes zero. */
  readonly floor: number
  /** The exact value if it differs from its floor, else null. */
  readonly exact: Finite | null
}

const bits = new DataView(new ArrayBuffer(8))

/** `value` is finite or plus infinity. */
export function nextBelow(value: number): number {
  if (value === 0) return -Number.MIN_VALUE
  bits.setFloat64(0, value)
  const low = bits.getUint32(4)
  const step = value > 0 ? -1 : 1
  bits.setUint32(4, low + step)
  if (low === (value > 0 ? 0 : 0xffff_ffff)) bits.setUint32(0, bits.getUint32(0) + step)
  return bits.getFloat64(0)
}

/** Compares with a finite double that is zero or has the decimal's sign. Returns -1, 0 or 1. */
function compareToDouble(decimal: Finite, double: number): number {
  if (double === 0) return decimal.negative ? -1 : 1
  bits.setFloat64(0, double)
  const pattern = bits.getBigUint64(0)
  const biased = Number((pattern >> 52n) & 0x7ffn)
  const fraction = pattern & 0xf_ffff_ffff_ffffn
  const mantissa = biased === 0 ? fraction : fraction | 0x10_0000_0000_0000n
  const power = (biased === 0 ? 1 : biased) - 1075
  // Multiply both sides by the same powers of ten and two, to compare integers.
  let left = decimal.negative ? -decimal.coefficient : decimal.coefficient
  let right = double < 0 ? -mantissa : mantissa
  if (decimal.exponent > 0) left *= 10n ** BigInt(decimal.exponent)
  else right *= 10n ** BigInt(-decimal.exponent)
  if (power > 0) right <<= BigInt(power)
  else left <<= BigInt(-power)
  return left < right ? -1 : left > right ? 1 : 0
}

function floorOfDecimal(decimal: Decimal): NumberFloor {
  if (decimal.kind === 'nan') return { floor: Number.NaN, exact: null }
  if (decimal.kind === 'infinity') return { floor: decimal.negative ? -Infinity : Infinity, exact: null }
  if (decimal.coefficient === 0n) return { floor: 0, exact: null }
  const nearest = Number(`${decimal.negative ? '-' : ''}${decimal.coefficient}e${decimal.exponent}`)
  if (nearest === -Infinity) return { floor: nearest, exact: decimal }
  if (nearest === Infinity) return { floor: Number.MAX_VALUE, exact: decimal }
  const order = compareToDouble(decimal, nearest)
  if (order === 0) return { floor: nearest, exact: null }
  return { floor: order > 0 ? nearest : nextBelow(nearest), exact: decimal }
}

export function floorOf(type: number, bytes: Uint8Array, start: number): NumberFloor {
  switch (type) {
    case BsonType.int32:
      return { floor: readInt32(bytes, start), exact: null }
    case BsonType.double:
      return { floor: readDouble(bytes, start) + 0, exact: null }
    case BsonType.int64: {
      const nearest = readInt64Number(bytes, start)
      if (Number.isSafeInteger(nearest)) return { floor: nearest, exact: null }
      const value = readInt64(bytes, start)
      const rounded = BigInt(nearest)
      if (rounded === value) return { floor: nearest, exact: null }
      const exact: Finite = {
        kind: 'finite',
        negative: value < 0n,
        coefficient: value < 0n ? -value : value,
        exponent: 0,
      }
      return { floor: rounded < value ? nearest : nextBelow(nearest), exact }
    }
    default:
      return floorOfDecimal(readDecimal128(bytes, start))
  }
}

/** NaN equals itself and is less than every other number. */
export function compareDoubles(a: number, b: number): number {
  if (a < b) return -1
  if (a > b) return 1
  if (a === b) return 0
  return Number.isNaN(a) ? (Number.isNaN(b) ? 0 : -1) : 1
}

export function compareInt64(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number): number {
  const aHigh = readInt32(a, aStart + 4)
  const bHigh = readInt32(b, bStart + 4)
  if (aHigh !== bHigh) return aHigh < bHigh ? -1 : 1
  const aLow = readUint32(a, aStart)
  const bLow = readUint32(b, bStart)
  return aLow < bLow ? -1 : aLow > bLow ? 1 : 0
}

export function compareNumbers(
  aType: number,
  aBytes: Uint8Array,
  aStart: number,
  bType: number,
  bBytes: Uint8Array,
  bStart: number,
): number {
  if (aType === BsonType.int32 && bType === BsonType.int32) {
    const a = readInt32(aBytes, aStart)
    const b = readInt32(bBytes, bStart)
    return a < b ? -1 : a > b ? 1 : 0
  }
  if (aType === BsonType.int64 && bType === BsonType.int64) return compareInt64(aBytes, aStart, bBytes, bStart)
  const a = exactDouble(aType, aBytes, aStart)
  const b = exactDouble(bType, bBytes, bStart)
  if (a !== undefined && b !== undefined) return compareDoubles(a, b)
  const aFloor = floorOf(aType, aBytes, aStart)
  const bFloor = floorOf(bType, bBytes, bStart)
  const order = compareDoubles(aFloor.floor, bFloor.floor)
  if (order !== 0) return order
  if (aFloor.exact === null || bFloor.exact === null)
    return aFloor.exact === bFloor.exact ? 0 : aFloor.exact === null ? -1 : 1
  return compareFinite(aFloor.exact, bFloor.exact)
}

/** Undefined: the conversion would lose precision or be expensive. */
export function exactDouble(type: number, bytes: Uint8Array, start: number): number | undefined {
  if (type === BsonType.int32) return readInt32(bytes, start)
  if (type === BsonType.double) return readDouble(bytes, start)
  if (type === BsonType.int64) {
    const value = readInt64Number(bytes, start)
    return Number.isSafeInteger(value) ? value : undefined
  }
  return undefined
}

/** `digits` without trailing zeros; `exponent` of the first one. */
export function scientific(decimal: Finite): { digits: string; exponent: number } {
  const digits = decimal.coefficient.toString()
  return { digits: digits.replace(/0+$/, ''), exponent: decimal.exponent + digits.length - 1 }
}

/** Both decimals have the same sign and are not zero, as is the case for equal floors. */
function compareFinite(a: Finite, b: Finite): number {
  const left = scientific(a)
  const right = scientific(b)
  const sign = a.negative ? -1 : 1
  if (left.exponent !== right.exponent) return left.exponent < right.exponent ? -sign : sign
  return left.digits < right.digits ? -sign : left.digits > right.digits ? sign : 0
}

export function isNaNValue(value: RawValue): boolean {
  if (value.type === BsonType.double) return Number.isNaN(readDouble(value.bytes, value.start))
  return value.type === BsonType.decimal128 && readDecimal128(value.bytes, value.start).kind === 'nan'
}
