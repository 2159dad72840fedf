import { BsonType, CommandError, doubleValue, int32Value, int64Value, nullValue, type RawValue } from '@shardlab/bson'
import { deviating } from '../../../../context.js'
import { exactInteger, fitsInt64, toNumber } from '../../../../values/arithmetic.js'
import {
  divideDecimals,
  divideRounded,
  roundDecimal,
  toDecimal,
  type RoundingMode,
} from '../../../../values/decimals/decimal.js'
import {
  decimalArcCosine,
  decimalArcSine,
  decimalArcTangent,
  decimalArcTangent2,
  decimalAreaCosine,
  decimalAreaSine,
  decimalAreaTangent,
  decimalCosine,
  decimalDegrees,
  decimalHyperbolicCosine,
  decimalHyperbolicSine,
  decimalHyperbolicTangent,
  decimalRadians,
  decimalSine,
  decimalTangent,
} from '../../../../values/decimals/trigonometry.js'
import type { DecimalFunction } from '../../../../values/decimals/function.js'
import {
  decimalExponential,
  decimalLogarithm,
  decimalLogarithm10,
  decimalPower,
  decimalRoot,
} from '../../../../values/decimals/powers.js'
import { formatEvaluated } from '../../../../values/format.js'
import { operator, typeOf, unary } from '../../arguments.js'
import type { ExpressionOperator } from '../../expression.js'

/** Numbers that are neither double nor decimal are converted to doubles. */
interface MathFunction {
  readonly double: (value: number) => number
  readonly decimal: DecimalFunction
  /** Default: all numbers. */
  readonly domain?: { readonly holds: (value: number) => boolean; readonly refusal: (given: RawValue) => CommandError }
}

/** Null for null or missing. NaN is in every domain. */
function mathOperator(name: string, { double, decimal, domain }: MathFunction): ExpressionOperator {
  return unary(name, (value) => {
    if (value === undefined || value.isNullish()) return nullValue
    if (!value.isNumber()) throw new CommandError(28765, `${name} only supports numeric types, not ${typeOf(value)}`)
    if (value.type === BsonType.decimal128) {
      const result = decimal(value)
      if (result === null) throw domain!.refusal(value)
      return result
    }
    const number = toNumber(value)
    if (domain !== undefined && !Number.isNaN(number) && !domain.holds(number)) throw domain.refusal(value)
    return doubleValue(double(number))
  })
}

function bounded(
  name: string,
  interval: string,
  holds: (value: number) => boolean,
  double: (value: number) => number,
  decimal: DecimalFunction,
): ExpressionOperator {
  const refusal = (given: RawValue) =>
    new CommandError(50989, `cannot apply ${name} to ${formatEvaluated(given)}, value must be in ${interval}`)
  return mathOperator(name, { double, decimal, domain: { holds, refusal } })
}

function positive(
  name: string,
  code: number,
  double: (value: number) => number,
  decimal: DecimalFunction,
): ExpressionOperator {
  const refusal = (given: RawValue) =>
    new CommandError(code, `${name}'s argument must be a positive number, but is ${formatEvaluated(given)}`)
  return mathOperator(name, { double, decimal, domain: { holds: (value) => value > 0, refusal } })
}

const isDecimal = (value: RawValue) => value.type === BsonType.decimal128

function log([value, base]: readonly (RawValue | undefined)[]): RawValue {
  if (value === undefined || base === undefined || value.isNullish() || base.isNullish()) return nullValue
  if (!value.isNumber()) throw new CommandError(28756, `$log's argument must be numeric, not ${typeOf(value)}`)
  if (!base.isNumber()) throw new CommandError(28757, `$log's base must be numeric, not ${typeOf(base)}`)
  const [of, by] = [toNumber(value), toNumber(base)]
  if (of <= 0)
    throw new CommandError(28758, `$log's argument must be a positive number, but is ${formatEvaluated(value)}`)
  if (by <= 0 || by === 1)
    throw new CommandError(
      28759,
      `$log's base must be a positive number not equal to 1, but is ${formatEvaluated(base)}`,
    )
  if (!isDecimal(value) && !isDecimal(base)) return doubleValue(Math.log(of) / Math.log(by))
  return divideDecimals(decimalLogarithm(toDecimal(value))!, decimalLogarithm(toDecimal(base))!)!
}

const isIntegerType = (value: RawValue) => value.type === BsonType.int32 || value.type === BsonType.int64

export function pow([base, exponent]: readonly (RawValue | undefined)[]): RawValue {
  if (base === undefined || exponent === undefined || base.isNullish() || exponent.isNullish()) return nullValue
  if (!base.isNumber()) throw new CommandError(28762, `$pow's base must be numeric, not ${typeOf(base)}`)
  if (!exponent.isNumber()) throw new CommandError(28763, `$pow's exponent must be numeric, not ${typeOf(exponent)}`)
  if (toNumber(base) === 0 && toNumber(exponent) < 0)
    throw new CommandError(28764, '$pow cannot take a base of 0 and a negative exponent')
  if (isDecimal(base) || isDecimal(exponent)) return decimalPower(toDecimal(base), toDecimal(exponent))
  if (isIntegerType(base) && isIntegerType(exponent)) {
    const exact = integerPower(base.asBigInt(), exponent.asBigInt())
    if (exact !== null) {
      const isLong =
        base.type === BsonType.int64 || exponent.type === BsonType.int64 || BigInt.asIntN(32, exact) !== exact
      return isLong ? int64Value(exact) : int32Value(Number(exact))
    }
  }
  return doubleValue(toNumber(base) ** toNumber(exponent))
}

/** Null: the result is not an integer within int64. */
function integerPower(base: bigint, exponent: bigint): bigint | null {
  if (base === 1n || base === -1n) return exponent % 2n === 0n ? 1n : base
  if (exponent < 0n) return null
  if (base === 0n) return exponent === 0n ? 1n : 0n
  if (exponent > 63n) return null
  const power = base ** exponent
  return fitsInt64(power) ? power : null
}

function wholeNumber(name: string, mode: RoundingMode, compute: (value: number) => number): ExpressionOperator {
  return unary(name, (value) => {
    if (value === undefined || value.isNullish()) return nullValue
    if (!value.isNumber()) throw new CommandError(28765, `${name} only supports numeric types, not ${typeOf(value)}`)
    if (value.type === BsonType.double) return doubleValue(compute(value.asNumber()))
    return value.type === BsonType.decimal128 ? roundDecimal(value, 0, mode) : value
  })
}

function toPlaces(name: string, mode: RoundingMode): ExpressionOperator {
  return operator(name, 1, 2, (operands) => {
    const [value, precision] = operands
    if (value === undefined || value.isNullish()) return nullValue
    if (operands.length > 1 && (precision === undefined || precision.isNullish())) return nullValue
    if (!value.isNumber()) throw new CommandError(51081, `${name} only supports numeric types, not ${typeOf(value)}`)
    const places = precision === undefined ? 0 : placesOf(name, precision)
    if (value.type === BsonType.decimal128) return roundDecimal(value, places, mode)
    if (value.type === BsonType.double) {
      const number = value.asNumber()
      return Number.isFinite(number) ? doubleValue(roundDouble(number, places, mode)) : value
    }
    if (places >= 0) return value
    const unit = 10n ** BigInt(-places)
    const rounded = divideRounded(value.asBigInt(), unit, mode) * unit
    if (!fitsInt64(rounded))
      throw new CommandError(
        51080,
        `invalid conversion from Decimal128 result in ${name} resulting from arguments: [${value.asBigInt()}, ${places}]`,
      )
    return value.type === BsonType.int32 && BigInt.asIntN(32, rounded) === rounded
      ? int32Value(Number(rounded))
      : int64Value(rounded)
  })
}

function placesOf(name: string, precision: RawValue): number {
  const places = exactInteger(precision)
  if (places === null) throw new CommandError(51082, `precision argument to  ${name} must be a integral value`)
  if (places < -20n || places > 100n)
    throw new CommandError(51083, `cannot apply ${name} with precision value ${places} value must be in [-20, 100]`)
  return Number(places)
}

/** Uses the first 34 digits of the double's exact value; NaN when the result needs more. */
function roundDouble(value: number, places: number, mode: RoundingMode): number {
  if (value === 0) return value
  // oxlint-disable-next-line oxc/number-arg-out-of-range -- JavaScript allows 100 digits
  const [digits, exponent] = value.toExponential(33).split('e') as [string, string]
  const drop = 33 - Number(exponent) - places
  if (drop < 0) return Number.NaN
  const rounded = Number(
    `${divideRounded(BigInt(digits.replace('.', '')), 10n ** BigInt(Math.min(drop, 400)), mode)}e${-places}`,
  )
  return rounded === 0 && value < 0 ? -0 : rounded
}

const inUnit = (value: number) => value >= -1 && value <= 1

const decimalFunctions: ReadonlySet<string> = new Set([
  '$pow',
  '$exp',
  '$ln',
  '$log10',
  '$log',
  '$sin',
  '$cos',
  '$tan',
  '$asin',
  '$acos',
  '$atan',
  '$atan2',
  '$sinh',
  '$cosh',
  '$tanh',
  '$asinh',
  '$acosh',
  '$atanh',
  '$degreesToRadians',
  '$radiansToDegrees',
])

const operators: readonly ExpressionOperator[] = [
  operator('$pow', 2, 2, pow),
  mathOperator('$sqrt', {
    double: Math.sqrt,
    decimal: decimalRoot,
    domain: {
      holds: (value) => value >= 0,
      refusal: () => new CommandError(28714, "$sqrt's argument must be greater than or equal to 0"),
    },
  }),
  mathOperator('$exp', { double: Math.exp, decimal: decimalExponential }),
  positive('$ln', 28766, Math.log, decimalLogarithm),
  positive('$log10', 28761, Math.log10, decimalLogarithm10),
  operator('$log', 2, 2, log),
  wholeNumber('$ceil', 'ceil', Math.ceil),
  wholeNumber('$floor', 'floor', Math.floor),
  toPlaces('$round', 'half-even'),
  toPlaces('$trunc', 'truncate'),
  bounded('$sin', '(-inf,inf)', Number.isFinite, Math.sin, decimalSine),
  bounded('$cos', '(-inf,inf)', Number.isFinite, Math.cos, decimalCosine),
  bounded('$tan', '(-inf,inf)', Number.isFinite, Math.tan, decimalTangent),
  bounded('$asin', '[-1,1]', inUnit, Math.asin, decimalArcSine),
  bounded('$acos', '[-1,1]', inUnit, Math.acos, decimalArcCosine),
  mathOperator('$atan', { double: Math.atan, decimal: decimalArcTangent }),
  operator('$atan2', 2, 2, ([y, x]) => {
    if (y === undefined || x === undefined || y.isNullish() || x.isNullish()) return nullValue
    if (!y.isNumber()) throw new CommandError(51044, `$atan2 only supports numeric types, not ${typeOf(y)}`)
    if (!x.isNumber()) throw new CommandError(51045, `$atan2 only supports numeric types, not ${typeOf(x)}`)
    if (isDecimal(y) || isDecimal(x)) return decimalArcTangent2(toDecimal(y), toDecimal(x))
    return doubleValue(Math.atan2(toNumber(y), toNumber(x)))
  }),
  mathOperator('$sinh', { double: Math.sinh, decimal: decimalHyperbolicSine }),
  mathOperator('$cosh', { double: Math.cosh, decimal: decimalHyperbolicCosine }),
  mathOperator('$tanh', { double: Math.tanh, decimal: decimalHyperbolicTangent }),
  mathOperator('$asinh', { double: Math.asinh, decimal: decimalAreaSine }),
  bounded('$acosh', '[1,inf]', (value) => value >= 1, Math.acosh, decimalAreaCosine),
  bounded('$atanh', '[-1,1]', inUnit, Math.atanh, decimalAreaTangent),
  mathOperator('$degreesToRadians', { double: (value) => value * (Math.PI / 180), decimal: decimalRadians }),
  mathOperator('$radiansToDegrees', { double: (value) => value * (180 / Math.PI), decimal: decimalDegrees }),
]

export const numberExpressions: readonly ExpressionOperator[] = operators.map((row) =>
  decimalFunctions.has(row.name) ? deviating(row, 'D102') : row,
)
