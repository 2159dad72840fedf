/** Results are rounded half to even at 34 digits as in IEEE 754. */
import { decimalText, decimalValue, type RawValue } from '@shardlab/bson'

/** `coefficient` · 10^`exponent`. */
export interface Decimal {
  readonly coefficient: bigint
  readonly exponent: number
  /** NaN or an infinity when not finite. */
  readonly special: number | null
}

const precision = 34
/** Exponent of the last digit. */
const exponentMin = -6176
/** Exponent of the first digit. */
const adjustedExponentMax = 6144

/** Doubles have 15 significant digits, as in the server's conversions. Zeros lose their sign. */
function parse(value: RawValue): Decimal {
  const text = value.isNumber() && value.type !== 0x13 ? numberText(value) : decimalText(value)
  const match = /^([+-]?)(\d*)\.?(\d*)(?:E([+-]?\d+))?$/i.exec(text)
  if (match === null || match[2]! + match[3]! === '')
    return {
      coefficient: 0n,
      exponent: 0,
      special: /nan/i.test(text) ? Number.NaN : text.startsWith('-') ? -Infinity : Infinity,
    }
  const digits = BigInt(match[2]! + match[3]!)
  return {
    coefficient: match[1] === '-' ? -digits : digits,
    exponent: Number(match[4] ?? 0) - match[3]!.length,
    special: null,
  }
}

function numberText(value: RawValue): string {
  if (value.type !== 0x01) return String(value.asBigInt())
  const number = value.asNumber()
  return Number.isFinite(number) ? number.toExponential(14) : String(number)
}

/** Infinity above the range of decimal128; below it fewer digits, down to zero. */
function build(coefficient: bigint, exponent: number): RawValue {
  let digits = coefficient < 0n ? -coefficient : coefficient
  // In one step: rounding twice may round a half that was none.
  const excess = Math.max(digits.toString().length - precision, exponentMin - exponent)
  if (excess > 0) {
    digits = dividedHalfEven(digits, excess)
    exponent += excess
    if (digits === 10n ** BigInt(precision)) {
      digits /= 10n
      exponent++
    }
  }
  if (digits !== 0n && digits.toString().length - 1 + exponent > adjustedExponentMax)
    return special(coefficient < 0n ? -Infinity : Infinity)
  return decimalValue(`${coefficient < 0n ? '-' : ''}${digits}E${exponent}`)
}

function dividedHalfEven(digits: bigint, places: number): bigint {
  const length = digits.toString().length
  if (places > length) return 0n
  const unit = 10n ** BigInt(places)
  const quotient = digits / unit
  const twice = (digits % unit) * 2n
  return twice > unit || (twice === unit && quotient % 2n === 1n) ? quotient + 1n : quotient
}

function special(value: number): RawValue {
  return decimalValue(Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity')
}

function approximate(value: Decimal): number {
  return value.special ?? Math.sign(Number(value.coefficient))
}

export function addDecimals(left: RawValue, right: RawValue): RawValue {
  const a = parse(left)
  const b = parse(right)
  if (a.special !== null || b.special !== null) return special(approximate(a) + approximate(b))
  const exponent = Math.min(a.exponent, b.exponent)
  if (Math.abs(a.exponent - b.exponent) > distant) return a.exponent > b.exponent ? addDistant(a, b) : addDistant(b, a)
  return build(
    a.coefficient * 10n ** BigInt(a.exponent - exponent) + b.coefficient * 10n ** BigInt(b.exponent - exponent),
    exponent,
  )
}

const distant = 400

/**
 * At such a distance the lower number affects only digits that are dropped, and how they are
 * rounded. The sum has as many digits as there is room for, as IEEE 754 asks.
 */
function addDistant(upper: Decimal, lower: Decimal): RawValue {
  if (upper.coefficient === 0n) return build(lower.coefficient, lower.exponent)
  const shift = precision + 3 - upper.coefficient.toString().replace('-', '').length
  const sticky = lower.coefficient === 0n ? 0n : lower.coefficient < 0n ? -1n : 1n
  return build(upper.coefficient * 10n ** BigInt(shift) + sticky, upper.exponent - shift)
}

export function multiplyDecimals(left: RawValue, right: RawValue): RawValue {
  const a = parse(left)
  const b = parse(right)
  if (a.special !== null || b.special !== null) return special(approximate(a) * approximate(b))
  return build(a.coefficient * b.coefficient, a.exponent + b.exponent)
}

/** Null for a division by zero. */
export function divideDecimals(left: RawValue, right: RawValue): RawValue | null {
  const a = parse(left)
  const b = parse(right)
  if (b.special === null && b.coefficient === 0n) return null
  if (a.special !== null || b.special !== null)
    return b.special !== null && a.special === null && !Number.isNaN(b.special)
      ? build(0n, 0)
      : special(approximate(a) / approximate(b))
  const exponent = a.exponent - b.exponent
  if (a.coefficient % b.coefficient === 0n) return build(a.coefficient / b.coefficient, exponent)
  const shift = precision + 2 + b.coefficient.toString().length
  const scaled = a.coefficient * 10n ** BigInt(shift)
  const quotient = scaled / b.coefficient
  if (scaled % b.coefficient === 0n) return buildShortest(quotient, exponent - shift, exponent)
  // One more digit for the remainder, which decides whether a half is one.
  const sticky = a.coefficient < 0n === b.coefficient < 0n ? 1n : -1n
  return build(quotient * 10n + sticky, exponent - shift - 1)
}

/** Without zeros at the end as far as the exponent stays below the preferred one of IEEE 754. */
function buildShortest(coefficient: bigint, exponent: number, preferredExponent: number): RawValue {
  while (exponent < preferredExponent && coefficient % 10n === 0n) {
    coefficient /= 10n
    exponent++
  }
  return build(coefficient, exponent)
}

export function negateDecimal(value: RawValue): RawValue {
  const a = parse(value)
  return a.special !== null ? special(-a.special) : build(-a.coefficient, a.exponent)
}

/** The remainder with the sign of the dividend; null for a zero divisor. */
export function remainderOfDecimals(left: RawValue, right: RawValue): RawValue | null {
  const a = parse(left)
  const b = parse(right)
  if (b.special === null && b.coefficient === 0n) return null
  if (a.special !== null || Number.isNaN(b.special)) return special(Number.NaN)
  if (b.special !== null) return build(a.coefficient, a.exponent)
  const exponent = Math.min(a.exponent, b.exponent)
  if (Math.abs(a.exponent - b.exponent) > 6200) return build(a.coefficient, a.exponent)
  return build(
    (a.coefficient * 10n ** BigInt(a.exponent - exponent)) % (b.coefficient * 10n ** BigInt(b.exponent - exponent)),
    exponent,
  )
}

export function decimalToNumber(value: RawValue): number {
  const text = decimalText(value)
  return /^[+-]?Inf/i.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text)
}

/** Null for NaN and infinities. */
export function truncateDecimal(value: RawValue): bigint | null {
  const a = parse(value)
  if (a.special !== null) return null
  if (a.exponent >= 0) return a.exponent > 40 && a.coefficient !== 0n ? null : a.coefficient * 10n ** BigInt(a.exponent)
  return -a.exponent > 6200 ? 0n : a.coefficient / 10n ** BigInt(-a.exponent)
}

export type RoundingMode = 'ceil' | 'floor' | 'truncate' | 'half-even'

/**
 * As IEEE's quantize. Negative `places` round to tens, hundreds … NaN: the result needs more than
 * 34 digits.
 */
export function roundDecimal(value: RawValue, places: number, mode: RoundingMode): RawValue {
  const a = parse(value)
  if (a.special !== null) return special(a.special)
  const drop = -places - a.exponent
  const coefficient =
    drop > 0
      ? divideRounded(a.coefficient, 10n ** BigInt(Math.min(drop, 6200)), mode)
      : a.coefficient * 10n ** BigInt(-drop)
  if (coefficient.toString().replace('-', '').length > precision) return special(Number.NaN)
  if (coefficient === 0n && isNegative(value)) return decimalValue(`-0E${-places}`)
  return build(coefficient, -places)
}

function isNegative(value: RawValue): boolean {
  return (value.bytes[value.start + 15]! & 0x80) !== 0
}

/** The divisor is positive. */
export function divideRounded(value: bigint, by: bigint, mode: RoundingMode): bigint {
  const quotient = value / by
  const rest = value % by
  if (rest === 0n) return quotient
  const away = value < 0n ? quotient - 1n : quotient + 1n
  if (mode === 'ceil') return value < 0n ? quotient : away
  if (mode === 'floor') return value < 0n ? away : quotient
  if (mode === 'truncate') return quotient
  const twice = (rest < 0n ? -rest : rest) * 2n
  return twice > by || (twice === by && quotient % 2n !== 0n) ? away : quotient
}

/** Doubles have 15 significant digits. */
export function toDecimal(value: RawValue): RawValue {
  const a = parse(value)
  return a.special !== null ? special(a.special) : build(a.coefficient, a.exponent)
}

export { parse as decimalParts, special as specialDecimal }
