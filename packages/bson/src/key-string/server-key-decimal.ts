/**
 * A decimal number in a {@link ServerKeyString}: the double next to it towards zero, and what is
 * missing. Server: `_appendNumberDecimal` of key_string.cpp.
 */
import type { Decimal } from '../values/decimal128.js'

type FiniteDecimal = Extract<Decimal, { kind: 'finite' }>

/** How the number relates to the double, and to the double rounded up to 15 digits. */
export const doubleMarks = { equal: 0, belowRounded: 1, rounded: 2, aboveRounded: 3 } as const

export type DoubleMark = (typeof doubleMarks)[keyof typeof doubleMarks]

/** Parts of the key, in order. Negative numbers invert all but the kind byte. */
export type DecimalPart =
  | { readonly kind: 'double'; readonly value: number; readonly mark: DoubleMark }
  | { readonly kind: 'shifted'; readonly value: bigint }
  | { readonly kind: 'byte'; readonly value: number }
  | { readonly kind: 'magnitude'; readonly size: 'small' | 'large' }
  | { readonly kind: 'uint64'; readonly value: bigint }

/** A positive fraction. */
interface Ratio {
  readonly above: bigint
  readonly below: bigint
}

interface Digits {
  readonly coefficient: bigint
  readonly exponent: number
}

const exponentBias = 6176
const exponentMin = -6176
const digitsMax = 34
const smallestNormal = 2 ** -1022

/** @param decimal not zero */
export function continuedDecimal(decimal: FiniteDecimal): DecimalPart[] {
  const { coefficient, exponent, negative } = decimal
  const exact = ratioOf(decimal)
  const double = doubleBelow(decimal, exact)
  const signed = negative ? -double : double
  if (double !== 0 && compare(ratioOfDouble(double), exact) === 0)
    return [{ kind: 'double', value: signed, mark: doubleMarks.equal }]
  if (double < smallestNormal) return tiny(decimal, exact, double)
  if (double === Number.MAX_VALUE) {
    const [high, low] = bitsOf(normalized(decimal))
    return [
      { kind: 'magnitude', size: 'large' },
      { kind: 'uint64', value: high | (1n << 63n) },
      { kind: 'uint64', value: low },
    ]
  }
  if (double >= 2 ** 53 && double < 2 ** 63) return largeInteger(exact)
  const stored = roundedUp(ratioOfDouble(double), digitsMax)
  const continuation: DecimalPart = { kind: 'uint64', value: beyond({ coefficient, exponent }, stored) }
  // These keys have room for one bit of the mark: equal to the double, or not.
  if (double >= 2 ** 63 || double < 2 ** -255)
    return [{ kind: 'double', value: signed, mark: doubleMarks.aboveRounded }, continuation]
  const rounded = roundedUp(ratioOfDouble(double), 15)
  const isShort = coefficient < 10n ** 15n
  const order = compare(exact, ratioOf(rounded))
  if (isShort || order === 0) return [{ kind: 'double', value: signed, mark: doubleMarks.rounded }]
  const mark = order < 0 ? doubleMarks.belowRounded : doubleMarks.aboveRounded
  return [{ kind: 'double', value: signed, mark }, continuation]
}

/** Doubles have lost digits of these integers. */
function largeInteger(exact: Ratio): DecimalPart[] {
  const integer = exact.above / exact.below
  const hasFraction = integer * exact.below !== exact.above
  const parts: DecimalPart[] = [{ kind: 'shifted', value: (integer << 1n) | (hasFraction ? 1n : 0n) }]
  if (!hasFraction) return parts
  if (integer < 1n << 55n) parts.push({ kind: 'byte', value: doubleMarks.aboveRounded })
  const stored = normalized({ coefficient: integer, exponent: 0 })
  parts.push({ kind: 'uint64', value: beyondRatio(exact, stored) })
  return parts
}

/** Below the normal range of doubles. */
function tiny(decimal: Digits, exact: Ratio, double: number): DecimalPart[] {
  const magnitude: DecimalPart = { kind: 'magnitude', size: 'small' }
  if (double === 0) {
    const [high, low] = bitsOf(normalized(decimal))
    return [magnitude, { kind: 'uint64', value: high }, { kind: 'uint64', value: low }]
  }
  const scaled = { above: exact.above << 256n, below: exact.below }
  const scaledDouble = nearestBelow(doubleNear(scaled), scaled)
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, scaledDouble)
  const stored = ratioOfDouble(scaledDouble)
  const digits = roundedUp({ above: stored.above, below: stored.below << 256n }, digitsMax)
  return [
    magnitude,
    { kind: 'uint64', value: ((view.getBigUint64(0) << 1n) | 1n) + (1n << 62n) },
    { kind: 'uint64', value: beyondRatio(exact, digits) },
  ]
}

/** How much larger a number is than the stored one, in units of its last digit. */
function beyond(number: Digits, stored: Digits): bigint {
  return beyondRatio(ratioOf(number), stored)
}

function beyondRatio(exact: Ratio, { coefficient, exponent }: Digits): bigint {
  const unit = ratioOf({ coefficient: 1n, exponent })
  const whole = (exact.above * unit.below) / (exact.below * unit.above)
  return whole > coefficient ? whole - coefficient : 0n
}

function doubleBelow({ coefficient, exponent }: Digits, exact: Ratio): number {
  const nearest = Number(`${coefficient}e${exponent}`)
  return nearestBelow(nearest === Infinity ? Number.MAX_VALUE : nearest, exact)
}

/** Of a ratio between the smallest normal double and 2 ** 64; wrong by a few steps at most. */
function doubleNear({ above, below }: Ratio): number {
  const shift = 64 + below.toString(2).length - above.toString(2).length
  const quotient = shift >= 0 ? (above << BigInt(shift)) / below : above / (below << BigInt(-shift))
  return Number(quotient) * 2 ** -shift
}

/** The greatest double that is not above the number. @param near at most a few steps away */
function nearestBelow(near: number, exact: Ratio): number {
  let double = near
  while (double > 0 && compare(ratioOfDouble(double), exact) > 0) double = step(double, -1n)
  for (let next = step(double, 1n); next < Infinity && compare(ratioOfDouble(next), exact) <= 0; next = step(next, 1n))
    double = next
  return double
}

function step(double: number, by: bigint): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, double)
  view.setBigUint64(0, view.getBigUint64(0) + by)
  return view.getFloat64(0)
}

function ratioOf({ coefficient, exponent }: Digits): Ratio {
  return exponent >= 0
    ? { above: coefficient * 10n ** BigInt(exponent), below: 1n }
    : { above: coefficient, below: 10n ** BigInt(-exponent) }
}

function ratioOfDouble(double: number): Ratio {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, double)
  const bits = view.getBigUint64(0)
  const biased = Number((bits >> 52n) & 0x7ffn)
  const fraction = bits & 0xf_ffff_ffff_ffffn
  const mantissa = biased === 0 ? fraction : fraction | (1n << 52n)
  const exponent = Math.max(biased, 1) - 1075
  return exponent >= 0
    ? { above: mantissa << BigInt(exponent), below: 1n }
    : { above: mantissa, below: 1n << BigInt(-exponent) }
}

function compare(a: Ratio, b: Ratio): number {
  const [left, right] = [a.above * b.below, b.above * a.below]
  return left < right ? -1 : Number(left > right)
}

/** The smallest number of so many digits that is not below it. */
function roundedUp({ above, below }: Ratio, digits: number): Digits {
  let exponent = above.toString().length - below.toString().length - digits
  for (;;) {
    const unit = ratioOf({ coefficient: 1n, exponent })
    const [dividend, divisor] = [above * unit.below, below * unit.above]
    const coefficient = (dividend + divisor - 1n) / divisor
    const length = coefficient.toString().length
    if (length === digits) return { coefficient, exponent }
    exponent += length > digits ? 1 : -1
    // A carry to one more digit: the last one is zero.
    if (length === digits + 1 && coefficient === 10n ** BigInt(digits))
      return { coefficient: coefficient / 10n, exponent }
  }
}

/** With 34 digits, as far as the exponent permits. */
function normalized({ coefficient, exponent }: Digits): Digits {
  const missing = Math.min(digitsMax - coefficient.toString().length, exponent - exponentMin)
  return { coefficient: coefficient * 10n ** BigInt(missing), exponent: exponent - missing }
}

function bitsOf({ coefficient, exponent }: Digits): readonly [high: bigint, low: bigint] {
  const high = (BigInt(exponent + exponentBias) << 49n) | (coefficient >> 64n)
  return [high, BigInt.asUintN(64, coefficient)]
}
