/** Server: decimal128.cpp, over Intel's decimal library. */
import type { RawValue } from '@shardlab/bson'
import { decimalParts, divideDecimals, multiplyDecimals, specialDecimal, type Decimal } from './decimal.js'
import {
  adjusted,
  clamped,
  finite,
  isOne,
  noValue,
  ofFixed,
  powerOfE,
  rounded,
  same,
  sign,
  text,
  throughZero,
  tiny,
  zero,
  type DecimalFunction,
} from './function.js'
import {
  angleOf,
  integerRoot,
  logarithm,
  magnitude,
  one,
  over,
  pi,
  places,
  shifted,
  sineAndCosine,
} from './fixed-point.js'

const trigonometric = (choose: (sine: bigint, cosine: bigint) => bigint) => (value: Decimal) =>
  ofFixed(choose(...sineAndCosine(value.coefficient, value.exponent)))

export const decimalSine = throughZero(
  trigonometric((sine) => sine),
  noValue,
)
export const decimalTangent = throughZero(trigonometric(over), noValue)
export const decimalCosine = finite(
  (value) => (value.coefficient === 0n ? text('1') : trigonometric((_, cosine) => cosine)(value)),
  noValue,
)

const signed = (value: bigint, like: bigint): bigint => (like < 0n ? -value : value)
const isInUnit = (fixed: bigint): boolean => magnitude(fixed) <= one
/** The third side of a right triangle with hypotenuse 1. */
const otherSide = (fixed: bigint): bigint => integerRoot(one * one - fixed * fixed)

export const decimalArcSine = throughZero(
  (_, fixed) => (isInUnit(fixed) ? ofFixed(signed(angleOf(magnitude(fixed), otherSide(fixed)), fixed)) : null),
  noValue,
)

export const decimalArcCosine = finite((value) => {
  if (adjusted(value) > 1) return null
  const fixed = shifted(value.coefficient, value.exponent + places)
  if (!isInUnit(fixed)) return null
  if (fixed === one) return zero()
  const angle = angleOf(otherSide(fixed), magnitude(fixed))
  return ofFixed(fixed < 0n ? pi() - angle : angle)
}, noValue)

export const decimalArcTangent = throughZero(
  (value) => arcTangent2(value, { coefficient: 1n, exponent: 0, special: null }),
  (value) => ofFixed(signed(pi() / 2n, value < 0 ? -1n : 1n)),
)

export function decimalArcTangent2(yValue: RawValue, xValue: RawValue): RawValue {
  const y = decimalParts(yValue)
  const x = decimalParts(xValue)
  if (Number.isNaN(y.special) || Number.isNaN(x.special)) return specialDecimal(Number.NaN)
  return arcTangent2(y, x)
}

function arcTangent2(y: Decimal, x: Decimal): RawValue {
  // Infinities and zeros are compared like lengths of which only the largest matter.
  const length = (value: Decimal): Decimal => ({ ...value, coefficient: magnitude(value.coefficient) })
  const largest = y.special !== null || x.special !== null
  const [rise, run] = largest ? [infiniteLength(y), infiniteLength(x)] : [length(y), length(x)]
  const isLeft = sign(x) < 0
  if (rise.coefficient === 0n) return isLeft ? ofFixed(signed(pi(), BigInt(Math.sign(sign(y))))) : zero()
  const apart = adjusted(rise) - adjusted(run)
  if (run.coefficient !== 0n && apart < tiny && !isLeft) return smallAngle(rise, run, sign(y))
  let angle = pi() / 2n
  if (run.coefficient !== 0n && Math.abs(apart) <= places) {
    const lower = Math.min(rise.exponent, run.exponent)
    angle = angleOf(shifted(rise.coefficient, rise.exponent - lower), shifted(run.coefficient, run.exponent - lower))
  } else if (run.coefficient !== 0n && apart < 0) angle = 0n
  const turned = isLeft ? pi() - angle : angle
  return ofFixed(sign(y) < 0 ? -turned : turned)
}

const infiniteLength = ({ special }: Decimal): Decimal => ({
  coefficient: special === null ? 0n : 1n,
  exponent: 0,
  special: null,
})

/** The angle of a small slope, which equals the slope. */
function smallAngle(rise: Decimal, run: Decimal, side: number): RawValue {
  const quotient = shifted(rise.coefficient, 2 * places) / run.coefficient
  return rounded(side < 0 ? -quotient : quotient, rise.exponent - run.exponent - 2 * places)
}

/** Above this one of e^x and e^-x is negligible in their sum. */
const maxTwoSidedPower = 200n * one

function hyperbolic(combine: (up: bigint, down: bigint) => bigint, alone: (value: Decimal) => RawValue) {
  return (value: Decimal): RawValue => {
    const power = clamped(value)
    if (magnitude(power) > maxTwoSidedPower) return alone(value)
    const [up, down] = [power, -power].map((each) => {
      const [coefficient, exponent] = powerOfE(each)!
      return shifted(coefficient, exponent + places)
    }) as [bigint, bigint]
    return ofFixed(combine(up, down))
  }
}

function halfPower(power: bigint, side: bigint): RawValue {
  const result = powerOfE(power)
  return result === null
    ? specialDecimal(side < 0n ? -Infinity : Infinity)
    : rounded(side * 5n * result[0], result[1] - 1)
}

export const decimalHyperbolicSine = throughZero(
  hyperbolic(
    (up, down) => (up - down) / 2n,
    (value) => halfPower(magnitude(clamped(value)), BigInt(sign(value))),
  ),
  same,
)

export const decimalHyperbolicCosine = finite(
  (value) =>
    value.coefficient === 0n
      ? text('1')
      : hyperbolic(
          (up, down) => (up + down) / 2n,
          () => halfPower(magnitude(clamped(value)), 1n),
        )(value),
  () => same(Infinity),
)

export const decimalHyperbolicTangent = throughZero(
  hyperbolic(
    (up, down) => over(up - down, up + down),
    (value) => rounded(BigInt(sign(value)), 0),
  ),
  (value) => text(value < 0 ? '-1' : '1'),
)

/** ln(x + √(x² ± 1)) for a positive x; above 10^45 the root is x. */
function areaFunction(value: Decimal, summand: bigint): bigint {
  const coefficient = magnitude(value.coefficient)
  if (adjusted(value) > 45) return logarithm(2n * coefficient, value.exponent)
  const fixed = shifted(coefficient, value.exponent + places)
  return logarithm(fixed + integerRoot(fixed * fixed + summand * one * one), -places)
}

export const decimalAreaSine = throughZero((value) => ofFixed(signed(areaFunction(value, 1n), value.coefficient)), same)

export const decimalAreaCosine = finite(
  (value) => {
    if (value.coefficient <= 0n || (adjusted(value) < 0 && !isOne(value))) return null
    return isOne(value) ? zero() : ofFixed(areaFunction(value, -1n))
  },
  (value) => (value > 0 ? same(value) : null),
)

export const decimalAreaTangent = throughZero((value, fixed) => {
  if (!isInUnit(fixed)) return null
  if (magnitude(fixed) === one) return specialDecimal(sign(value) * Infinity)
  return ofFixed((logarithm(one + fixed, -places) - logarithm(one - fixed, -places)) / 2n)
}, noValue)

/** With 34 digits, as on the server. */
const serverPi = '3.141592653589793238462643383279503'
const halfTurn = '180'

export const decimalRadians: DecimalFunction = (degrees) =>
  multiplyDecimals(degrees, divideDecimals(text(serverPi), text(halfTurn))!)
export const decimalDegrees: DecimalFunction = (radians) =>
  multiplyDecimals(radians, divideDecimals(text(halfTurn), text(serverPi))!)
