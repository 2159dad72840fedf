import { keyStringFieldEnd } from './key-string-fields.js'

const numberRank = 0x28
/** The byte after a floor that is not exact. */
const withSteps = 1

const view = new DataView(new ArrayBuffer(8))

/**
 * The field at `start` as a double, for distances between keys. Exact up to 53 bits, beyond them
 * rounded down. Minus infinity: NaN, a missing field, and values that sort before all numbers.
 * Infinity: values that sort after all numbers.
 * @param key an ascending KeyString
 */
export function keyStringNumber(key: string, start: number): number {
  if (start >= key.length) return Number.NEGATIVE_INFINITY
  const rank = key.charCodeAt(start)
  if (rank !== numberRank) return rank < numberRank ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  const isPositive = key.charCodeAt(start + 1) >= 0x80
  for (let i = 0; i < 8; i++)
    view.setUint8(i, isPositive ? key.charCodeAt(start + 1 + i) : ~key.charCodeAt(start + 1 + i))
  if (isPositive) view.setUint8(0, key.charCodeAt(start + 1) ^ 0x80)
  const floor = view.getFloat64(0)
  // NaN is all zeros.
  if (Number.isNaN(floor)) return Number.NEGATIVE_INFINITY
  if (key.charCodeAt(start + 9) !== withSteps) return floor
  return floor + key.charCodeAt(start + 10) * 256 + key.charCodeAt(start + 11)
}

export function keyStringNumbers(key: string): readonly [first: number, second: number, third: number] {
  const second = key.length === 0 ? 0 : keyStringFieldEnd(key, 0)
  const third = second >= key.length ? second : keyStringFieldEnd(key, second)
  return [keyStringNumber(key, 0), keyStringNumber(key, second), keyStringNumber(key, third)]
}
