/**
 * Fixed-point numbers are integers in units of 10^-{@link places}. They have far more places than
 * the 34 digits of a decimal, so rounding their results is correct.
 */

export const places = 130
export const one = 10n ** BigInt(places)

export const magnitude = (value: bigint): bigint => (value < 0n ? -value : value)
export const digitCount = (value: bigint): number => (value === 0n ? 0 : magnitude(value).toString().length)
/** Shifts by decimal digits; digits after the point are dropped. */
export const shifted = (value: bigint, digits: number): bigint =>
  digits >= 0 ? value * 10n ** BigInt(digits) : value / 10n ** BigInt(-digits)

const times = (a: bigint, b: bigint): bigint => (a * b) / one
export const over = (a: bigint, b: bigint): bigint => (a * one) / b

export function nearest(value: bigint, by: bigint): bigint {
  return value >= 0n ? (2n * value + by) / (2n * by) : -((-2n * value + by) / (2n * by))
}

/** Rounds down. */
export function integerRoot(value: bigint): bigint {
  if (value < 2n) return value
  let root = 10n ** BigInt(Math.ceil(digitCount(value) / 2))
  for (;;) {
    const next = (root + value / root) / 2n
    if (next >= root) return root
    root = next
  }
}

/** The nearest double, as the first guess of an iteration. */
const approximate = (value: bigint): number => Number(value / 10n ** BigInt(places - 20)) / 1e20
const fromDouble = (value: number): bigint => shifted(BigInt(Math.round(value * 2 ** 60)) * one, 0) / 2n ** 60n

/** For values below about 2. */
export function exponential(value: bigint): bigint {
  let sum = one
  let term = one
  for (let n = 1n; term !== 0n; n++) {
    term = times(term, value) / n
    sum += term
  }
  return sum
}

/** The argument is 1/n. */
function inverseTangentHyperbolic(n: bigint): bigint {
  let sum = 0n
  let power = one / n
  for (let k = 1n; power !== 0n; k += 2n) {
    sum += power / k
    power /= n * n
  }
  return sum
}

let ln10Known: bigint | undefined
/** 3 ln 2 + ln 5/4. */
export function ln10(): bigint {
  return (ln10Known ??= 6n * inverseTangentHyperbolic(3n) + 2n * inverseTangentHyperbolic(9n))
}

/** For values between 0.1 and 10, by Halley's method. */
function logarithmNearOne(value: bigint): bigint {
  let result = fromDouble(Math.log(approximate(value)))
  for (let step = 0; step < 4; step++) {
    const power = exponential(result)
    result += (2n * one * (value - power)) / (value + power)
  }
  return result
}

/** The argument is `coefficient` · 10^`exponent`; the coefficient is positive. */
export function logarithm(coefficient: bigint, exponent: number): bigint {
  const digits = digitCount(coefficient)
  let mantissa = shifted(coefficient, places - digits + 1)
  let power = exponent + digits - 1
  if (mantissa * mantissa > 10n * one * one) {
    mantissa = shifted(coefficient, places - digits)
    power++
  }
  return (mantissa === one ? 0n : logarithmNearOne(mantissa)) + BigInt(power) * ln10()
}

/** Uses Machin's formula. */
function piOf(digits: number): bigint {
  const unit = 10n ** BigInt(digits + 10)
  const inverseTangent = (n: bigint): bigint => {
    let sum = 0n
    let power = unit / n
    for (let k = 1n; power !== 0n; k += 2n) {
      sum += k % 4n === 1n ? power / k : -(power / k)
      power /= n * n
    }
    return sum
  }
  return (16n * inverseTangent(5n) - 4n * inverseTangent(239n)) / 10n ** 10n
}

let piKnown = { digits: 0, value: 0n }
export function pi(digits = places): bigint {
  if (piKnown.digits < digits) piKnown = { digits, value: piOf(digits) }
  return shifted(piKnown.value, digits - piKnown.digits)
}

/** The angle is `coefficient` · 10^`exponent`. */
export function sineAndCosine(coefficient: bigint, exponent: number): readonly [sine: bigint, cosine: bigint] {
  // A large angle needs as many more digits of π as it has before the point.
  const digits = places + Math.max(0, exponent + digitCount(coefficient)) + 5
  const quarter = pi(digits) / 2n
  const angle = shifted(coefficient, exponent + digits)
  const turns = nearest(angle, quarter)
  const [sine, cosine] = smallSineAndCosine(shifted(angle - turns * quarter, places - digits))
  switch (((turns % 4n) + 4n) % 4n) {
    case 0n:
      return [sine, cosine]
    case 1n:
      return [cosine, -sine]
    case 2n:
      return [-sine, -cosine]
    default:
      return [-cosine, sine]
  }
}

function smallSineAndCosine(angle: bigint): readonly [sine: bigint, cosine: bigint] {
  let sine = 0n
  let cosine = 0n
  let term = one
  for (let n = 0n; term !== 0n; n++) {
    if (n % 2n === 0n) cosine += n % 4n === 0n ? term : -term
    else sine += n % 4n === 1n ? term : -term
    term = times(term, angle) / (n + 1n)
  }
  return [sine, cosine]
}

/** The angle of a point, 0 to π/2; the coordinates are not negative and not both 0. */
export function angleOf(y: bigint, x: bigint): bigint {
  if (y > x) return pi() / 2n - angleOf(x, y)
  const tangent = over(y, x)
  let angle = fromDouble(Math.atan(approximate(tangent)))
  for (let step = 0; step < 4; step++) {
    const [sine, cosine] = smallSineAndCosine(angle)
    const rest = over(times(tangent, cosine) - sine, cosine + times(tangent, sine))
    angle += rest - times(rest, times(rest, rest)) / 3n
  }
  return angle
}
