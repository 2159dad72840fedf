/**
 * Square roots are exact as in IEEE 754; the other results are correctly rounded. Server:
 * decimal128.cpp, over Intel's decimal library.
 */
import type { RawValue } from '@shardlab/bson'
import { decimalParts, specialDecimal, type Decimal } from './decimal.js'
import {
  adjusted,
  clamped,
  finite,
  isOne,
  ofFixed,
  powerOfE,
  precision,
  rounded,
  same,
  sign,
  smallestExponent,
  text,
  zero,
  type DecimalFunction,
} from './function.js'
import { digitCount, integerRoot, ln10, logarithm, magnitude, over, shifted } from './fixed-point.js'

export const decimalRoot: DecimalFunction = finite(
  ({ coefficient, exponent }) => {
    if (coefficient < 0n) return null
    const preferred = Math.floor(exponent / 2)
    if (coefficient === 0n) return text(`0E${preferred}`)
    const shift = 2 * precision + (((exponent % 2) + 2) % 2)
    const square = shifted(coefficient, shift)
    let root = integerRoot(square)
    let scale = (exponent - shift) / 2
    // The extra digit marks the root as inexact for the rounding.
    if (root * root !== square) return rounded(root * 10n + 1n, scale - 1)
    for (; scale < preferred && root % 10n === 0n; scale++) root /= 10n
    return rounded(root, scale, true)
  },
  (value) => (value > 0 ? same(value) : null),
)

function exponentialOf(power: bigint): RawValue {
  const result = powerOfE(power)
  if (result !== null) return rounded(...result)
  return power > 0n ? specialDecimal(Infinity) : text(`0E${smallestExponent}`)
}

export const decimalExponential: DecimalFunction = finite(
  (value) => (value.coefficient === 0n ? text('1') : exponentialOf(clamped(value))),
  (value) => (value > 0 ? same(value) : zero()),
)

export const decimalLogarithm: DecimalFunction = finite(
  (value) => {
    if (value.coefficient <= 0n) return null
    return isOne(value) ? zero() : ofFixed(logarithm(value.coefficient, value.exponent))
  },
  (value) => (value > 0 ? same(value) : null),
)

export const decimalLogarithm10: DecimalFunction = finite(
  (value) => {
    if (value.coefficient <= 0n) return null
    const isPowerOfTen = /^10*$/.test(value.coefficient.toString())
    return isPowerOfTen
      ? text(String(adjusted(value)))
      : ofFixed(over(logarithm(value.coefficient, value.exponent), ln10()))
  },
  (value) => (value > 0 ? same(value) : null),
)

/**
 * Null: there is a fraction. Above 10^50 only the size matters, so ±10^50 is returned, which is
 * even like the number itself.
 */
function integerOf({ coefficient, exponent }: Decimal): bigint | null {
  if (exponent >= 0)
    return exponent > 50 ? 10n ** 50n * BigInt(Math.sign(Number(coefficient))) : shifted(coefficient, exponent)
  const whole = shifted(coefficient, exponent)
  return shifted(whole, -exponent) === coefficient ? whole : null
}

/** On the same side of 0, 1 and the infinities, for cases in which only that matters. */
function representative(value: Decimal): number {
  const size = { ...value, coefficient: magnitude(value.coefficient) }
  return value.special ?? sign(value) * (isOne(size) ? 1 : adjusted(size) >= 0 ? 2 : 0.5)
}

function specialPower(base: Decimal, power: Decimal, integer: bigint | null): RawValue {
  const of = representative(base)
  if (Math.abs(of) === 1) return rounded(1n, 0)
  const to = power.special ?? sign(power) * (integer === null ? 0.5 : integer % 2n === 0n ? 2 : 1)
  const result = of ** to
  return result === 0 ? text(`0E${smallestExponent}`) : specialDecimal(result)
}

/**
 * As C's pow. Results have all 34 digits, because the server adds a zero with the smallest
 * exponent.
 */
export function decimalPower(baseValue: RawValue, powerValue: RawValue): RawValue {
  const base = decimalParts(baseValue)
  const power = decimalParts(powerValue)
  if ((power.special === null && power.coefficient === 0n) || (base.special === null && isOne(base)))
    return rounded(1n, 0)
  if (Number.isNaN(base.special) || Number.isNaN(power.special)) return specialDecimal(Number.NaN)
  const integer = power.special === null ? integerOf(power) : null
  if (base.special !== null || power.special !== null || base.coefficient === 0n)
    return specialPower(base, power, integer)
  if (base.coefficient < 0n && integer === null) return specialDecimal(Number.NaN)
  const side = base.coefficient < 0n && integer! % 2n !== 0n ? -1n : 1n
  const coefficient = magnitude(base.coefficient)
  if (integer !== null && magnitude(integer) * BigInt(digitCount(coefficient)) <= 400n) {
    const whole = side * coefficient ** magnitude(integer)
    const scale = base.exponent * Number(integer)
    if (integer > 0n) return rounded(whole, scale)
    const shift = digitCount(whole) + 2 * precision
    const quotient = shifted(1n, shift) / whole
    // The extra digit marks the quotient as inexact for the rounding.
    return quotient * whole === shifted(1n, shift)
      ? rounded(quotient, scale - shift)
      : rounded(quotient * 10n + side, scale - shift - 1)
  }
  const log = logarithm(coefficient, base.exponent)
  // Powers beyond this give infinity or 0 for every base but 1.
  const product =
    adjusted(power) > 45 ? log * BigInt(sign(power)) * 10n ** 50n : shifted(log * power.coefficient, power.exponent)
  const result = powerOfE(product)
  if (result !== null) return rounded(side * result[0], result[1])
  return product > 0n ? specialDecimal(side < 0n ? -Infinity : Infinity) : text(`0E${smallestExponent}`)
}
