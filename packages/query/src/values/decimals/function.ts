import { decimalValue, type RawValue } from '@shardlab/bson'
import { decimalParts, divideRounded, specialDecimal, type Decimal } from './decimal.js'
import { digitCount, exponential, ln10, magnitude, nearest, one, places, shifted } from './fixed-point.js'

/** Null outside of its domain; NaN gives NaN. */
export type DecimalFunction = (value: RawValue) => RawValue | null

export const precision = 34
export const smallestExponent = -6176
const largestAdjusted = 6144
/** For arguments below 10^this the first term of a series is the whole result. */
export const tiny = -40
/** Beyond this, powers of e are infinite or 0. */
const largestPower = 15_000

export const text = (digits: string): RawValue => decimalValue(digits)
export const zero = () => text('0')

/** Exponent of the first digit. */
export const adjusted = ({ coefficient, exponent }: Decimal): number => exponent + digitCount(coefficient) - 1

/** Rounds half to even at 34 digits. An inexact result always gets 34 digits. */
export function rounded(coefficient: bigint, exponent: number, isExact = false): RawValue {
  if (coefficient === 0n) return text(`0E${Math.max(exponent, smallestExponent)}`)
  const drop = Math.max(digitCount(coefficient) - precision, smallestExponent - exponent)
  if (drop > 0) {
    coefficient = divideRounded(coefficient, 10n ** BigInt(Math.min(drop, 7000)), 'half-even')
    exponent += drop
    if (digitCount(coefficient) > precision) return rounded(coefficient, exponent, isExact)
  } else if (!isExact) {
    const missing = Math.min(-drop, precision - digitCount(coefficient))
    coefficient = shifted(coefficient, missing)
    exponent -= missing
  }
  if (exponent + digitCount(coefficient) - 1 > largestAdjusted)
    return specialDecimal(coefficient < 0n ? -Infinity : Infinity)
  return text(`${coefficient}E${exponent}`)
}

export const ofFixed = (value: bigint): RawValue => rounded(value, -places)

/** @param infinite the values at the infinities */
export function finite(
  compute: (value: Decimal) => RawValue | null,
  infinite: (value: number) => RawValue | null,
): DecimalFunction {
  return (value) => {
    const parts = decimalParts(value)
    if (parts.special === null) return compute(parts)
    return Number.isNaN(parts.special) ? specialDecimal(Number.NaN) : infinite(parts.special)
  }
}

/** For functions with f(x) ≈ x near 0 and f(0) = 0. */
export function throughZero(
  compute: (value: Decimal, fixed: bigint) => RawValue | null,
  infinite: (value: number) => RawValue | null,
): DecimalFunction {
  return finite((value) => {
    const { coefficient, exponent } = value
    if (coefficient === 0n) return zero()
    return adjusted(value) < tiny
      ? rounded(coefficient, exponent)
      : compute(value, shifted(coefficient, exponent + places))
  }, infinite)
}

export const noValue = () => null
export const same = (value: number) => specialDecimal(value)

export const isOne = ({ coefficient, exponent }: Decimal): boolean =>
  exponent <= 0 && exponent > -precision && coefficient === shifted(1n, -exponent)

export const sign = ({ coefficient, special }: Decimal): number =>
  special ?? (coefficient < 0n ? -1 : coefficient > 0n ? 1 : 0)

/** Null: out of the range of decimals. */
export function powerOfE(power: bigint): readonly [coefficient: bigint, exponent: number] | null {
  if (magnitude(power) > BigInt(largestPower) * one) return null
  const tens = nearest(power, ln10())
  return [exponential(power - tens * ln10()), Number(tens) - places]
}

/** The fixed-point number, or a sufficiently large one of the same sign. */
export function clamped(value: Decimal): bigint {
  if (adjusted(value) < 6) return shifted(value.coefficient, value.exponent + places)
  return (value.coefficient < 0n ? -1n : 1n) * 10n ** BigInt(places + 6)
}
