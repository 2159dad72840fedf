import {
  BsonType,
  CommandError,
  doubleValue,
  elementsOf,
  FieldIterator,
  int32Value,
  int64Value,
  isNaNValue,
  nullValue,
  type RawValue,
} from '@shardlab/bson'
import { exactInteger, toNumber, truncateToInt64 } from '../../values/arithmetic.js'
import { timeUnit, unitMs } from '../../values/dates/units.js'
import {
  addDecimals,
  decimalToNumber,
  divideDecimals,
  multiplyDecimals,
  negateDecimal,
  toDecimal,
} from '../../values/decimals/decimal.js'
import { formatField } from '../../values/format.js'
import { ValueList } from '../../values/value-store.js'
import type { Accumulator } from '../accumulators/accumulator.js'
import { accumulatorOperators } from '../accumulators/table.js'
import { add, divide, multiply, subtract } from '../expressions/operators/numbers/arithmetic.js'
import { typeOf } from '../expressions/arguments.js'
import { accumulateOver } from './accumulators.js'
import { boundsOf, endpointsAt } from './bounds.js'
import {
  compileInput,
  failedToParse,
  unknownArgument,
  type ComputedField,
  type WindowContext,
  type WindowFunction,
  type WindowSpecification,
} from './window-function.js'

function checkSort(name: string, { sort }: WindowContext): void {
  if (sort === null) throw failedToParse(`${name} requires a sortBy`)
  if (sort.parts.length !== 1) throw failedToParse(`${name} requires a non-compound sortBy`)
}

/** The unit in milliseconds, null when not given. */
function inputWithUnit(name: string, argument: RawValue): { input: RawValue; unit: RawValue | null } {
  if (argument.type !== BsonType.object)
    throw failedToParse(`${name} expects an object, but got a ${typeOf(argument)}: ${formatField(name, argument)}`)
  let input: RawValue | null = null
  let unit: RawValue | null = null
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const value = it.value()
    if (it.name() === 'input') input = value
    else if (it.name() === 'unit') unit = unitValue(value)
    else throw failedToParse(`${name} got unexpected argument: ${it.name()}`)
  }
  if (input === null) throw failedToParse(`${name} requires an 'input' expression`)
  return { input, unit }
}

function unitValue(value: RawValue): RawValue {
  if (value.type !== BsonType.string) throw failedToParse(`unit' must be a string, but got ${typeOf(value)}`)
  const ms = unitMs(timeUnit(value.asString()))
  if (ms === null) throw new CommandError(5490710, "unit must be 'week' or smaller")
  return int64Value(BigInt(ms))
}

function compileDerivative(specification: WindowSpecification, context: WindowContext): ComputedField {
  checkSort('$derivative', context)
  const bounds = boundsOf(specification, context, (field) => `$derivative got unexpected argument: ${field}`)
  const { input, unit } = inputWithUnit('$derivative', specification.argument)
  if (specification.window === null) throw failedToParse('$derivative requires explicit window bounds')
  const position = compileInput(input, context)
  return (partition) => {
    const positions = partition.evaluate(position)
    const times = partition.sortValues
    return positions.map((_, index) => {
      const window = endpointsAt(bounds, partition, index)
      return window === null
        ? nullValue
        : slope(times[window[0]], times[window[1]], positions[window[0]], positions[window[1]], unit)
    })
  }
}

function slope(
  fromTime: RawValue | undefined,
  toTime: RawValue | undefined,
  from: RawValue | undefined,
  to: RawValue | undefined,
  unit: RawValue | null,
): RawValue {
  const isDate = (value: RawValue | undefined) => value?.type === BsonType.date
  if (unit !== null) {
    if (!isDate(fromTime) || !isDate(toTime))
      throw new CommandError(5624900, "$derivative with 'unit' expects the sortBy field to be a Date")
  } else {
    if (isDate(fromTime) || isDate(toTime))
      throw new CommandError(5624901, "$derivative where the sortBy is a Date requires an 'unit'")
    if (!fromTime?.isNumber() || !toTime?.isNumber())
      throw new CommandError(5624902, "$derivative (with no 'unit') expects the sortBy field to be numeric")
  }
  const run = subtract([toTime, fromTime])
  const rise = subtract([to, from])
  if (rise.isNullish()) throw new CommandError(5624903, '$derivative input must not be null or missing')
  // A window of one document has no slope.
  if (toNumber(run) === 0) return nullValue
  const result = divide([rise, run])
  return unit === null ? result : multiply([result, unit])
}

function compileIntegral(specification: WindowSpecification, context: WindowContext): ComputedField {
  checkSort('$integral', context)
  const bounds = boundsOf(specification, context, (field) => `$integral got unexpected argument: ${field}`)
  const { input, unit } = inputWithUnit('$integral', specification.argument)
  const position = compileInput(input, context)
  return (partition) => {
    const times = partition.sortValues
    const positions = partition.evaluate(position)
    const points = positions.map((_, index) => int32Value(index))
    const create = () => integral((index) => [times[index], positions[index]], unit)
    return accumulateOver(bounds, { inputs: () => points, create })(partition)
  }
}

/** By trapezoids between adjacent points; the inputs are indexes of points. */
function integral(
  pointAt: (index: number) => readonly [RawValue | undefined, RawValue | undefined],
  unit: RawValue | null,
): Pick<Accumulator, 'add' | 'result'> {
  const total = accumulatorOperators.get('$sum')!.create(new ValueList(), undefined)
  let last: readonly [RawValue, RawValue] | null = null
  let hasNaN = false
  return {
    add(place) {
      const [time, value] = pointAt(place!.asNumber())
      if ((!time?.isNumber() && time?.type !== BsonType.date) || !value?.isNumber())
        throw new CommandError(
          5423900,
          'The input value of $integral window function must be a vector of 2 value, the first value must be numeric or date type and the second must be numeric.',
        )
      if (unit !== null && time.type !== BsonType.date)
        throw new CommandError(5423901, "$integral with 'unit' expects the sortBy field to be a Date")
      if (unit === null && !time.isNumber())
        throw new CommandError(5423902, "$integral (with no 'unit') expects the sortBy field to be numeric")
      const isNaN = isNaNValue(time) || isNaNValue(value)
      if (isNaN) hasNaN = true
      else if (last !== null && !isNaNValue(last[0]) && !isNaNValue(last[1]) && last[0].isNumber() === time.isNumber())
        total.add(divide([multiply([add([value, last[1]]), subtract([time, last[0]])]), doubleValue(2)]))
      last = [time, value]
    },
    result() {
      if (last === null) return nullValue
      if (hasNaN) return doubleValue(Number.NaN)
      return unit === null ? total.result() : divide([total.result(), unit])
    },
  }
}

function compileExpMovingAvg({ argument, window, others }: WindowSpecification, context: WindowContext): ComputedField {
  if (window !== null || others.length > 0 || argument.type !== BsonType.object)
    throw failedToParse('$expMovingAvg must have exactly one argument that is an object')
  const fields = new Map<string, RawValue>()
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) fields.set(it.name(), it.value())
  const input = fields.get('input')
  const shape =
    "$expMovingAvg sub object must have exactly two fields: An 'input' field, and either an 'N' field or an 'alpha' field"
  if (input === undefined || fields.size !== 2) throw failedToParse(shape)
  if (context.sort === null) throw failedToParse("$expMovingAvg requires an explicit 'sortBy'")
  const [n, alpha] = [fields.get('N'), fields.get('alpha')]
  if (n === undefined && alpha === undefined) throw failedToParse(`Got unrecognized field in $expMovingAvg${shape}`)
  const weight = n === undefined ? weightOfAlpha(alpha!) : weightOfCount(n)
  const expression = compileInput(input, context)
  return (partition) => movingAverages(partition.evaluate(expression), weight)
}

function weightOfCount(n: RawValue): RawValue {
  if (!n.isNumber()) throw failedToParse(`'N' field must be an integer, but found type ${typeOf(n)}`)
  if (exactInteger(n) === null)
    throw failedToParse(
      `'N' field must be an integer, but found  ${formatField('N', n)}. To use a non-integer, use the 'alpha' argument instead`,
    )
  const count = truncateToInt64(n)!
  if (count <= 0n) throw failedToParse(`'N' must be greater than zero. Got ${count}`)
  return divideDecimals(toDecimal(int32Value(2)), int64Value(count + 1n))!
}

function weightOfAlpha(alpha: RawValue): RawValue {
  if (!alpha.isNumber()) throw failedToParse("'alpha' must be a number")
  const number = toNumber(alpha)
  if (!(number > 0 && number < 1))
    throw failedToParse(`'alpha' must be between 0 and 1 (exclusive), found ${formatField('alpha', alpha)}`)
  return toDecimal(alpha)
}

/** In decimal arithmetic. The results are doubles until a value is a decimal. */
function movingAverages(inputs: readonly (RawValue | undefined)[], weight: RawValue): RawValue[] {
  const rest = addDecimals(int32Value(1), negateDecimal(weight))
  let current: RawValue | null = null
  let isDecimal = false
  return inputs.map((input) => {
    if (input?.isNumber()) {
      isDecimal ||= input.type === BsonType.decimal128
      const value: RawValue = toDecimal(input)
      current = current === null ? value : addDecimals(multiplyDecimals(value, weight), multiplyDecimals(current, rest))
    }
    if (current === null) return nullValue
    return isDecimal ? current : doubleValue(decimalToNumber(current))
  })
}

/** Null: not an array of two numbers. Such inputs are ignored. */
function numberPair(value: RawValue | undefined): readonly [RawValue, RawValue] | null {
  const elements = value?.type === BsonType.array ? elementsOf(value) : []
  const [x, y] = elements
  return elements.length === 2 && x!.isNumber() && y!.isNumber() ? [x!, y!] : null
}

/** The contribution of a pair with an infinity or NaN; null: both numbers are finite. */
function nonFinite(pair: readonly [RawValue, RawValue]): RawValue | null {
  const numbers = pair.map(toNumber)
  if (numbers.every(Number.isFinite)) return null
  const isDecimal = pair.some((value) => value.type === BsonType.decimal128)
  const isMixed = numbers.includes(Infinity) && numbers.includes(-Infinity)
  const value = numbers.some(Number.isNaN) || isMixed ? Number.NaN : numbers.includes(Infinity) ? Infinity : -Infinity
  return isDecimal ? toDecimal(doubleValue(value)) : doubleValue(value)
}

/** Welford's method, with the arithmetic of expressions. */
function covarianceOf(isSample: boolean): Pick<Accumulator, 'add' | 'result'> {
  const total = accumulatorOperators.get('$sum')!.create(new ValueList(), undefined)
  const [meanX, meanY] = [0, 1].map(() => accumulatorOperators.get('$avg')!.create(new ValueList(), undefined)) as [
    Accumulator,
    Accumulator,
  ]
  const zero = doubleValue(0)
  const meanOf = (mean: Accumulator) => {
    const value = mean.result()
    return value.isNullish() ? zero : value
  }
  let count = 0
  return {
    add(value) {
      const pair = numberPair(value)
      if (pair === null) return
      const special = nonFinite(pair)
      if (special !== null) {
        total.add(special)
        return
      }
      count++
      const [x, y] = pair
      const deltaX = subtract([x, meanOf(meanX)])
      meanX.add(x)
      meanY.add(y)
      total.add(multiply([deltaX, subtract([y, meanOf(meanY)])]))
    },
    result() {
      if (count === 1 && !isSample) return zero
      const by = isSample ? count - 1 : count
      if (by <= 0) return nullValue
      return divide([total.result(), doubleValue(by)])
    },
  }
}

function covariance(name: string, isSample: boolean): WindowFunction {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    compile(specification, context) {
      const bounds = boundsOf(specification, context, unknownArgument)
      const input = compileInput(specification.argument, context)
      return accumulateOver(bounds, {
        inputs: (partition) => partition.evaluate(input),
        create: () => covarianceOf(isSample),
      })
    },
  }
}

export const calculusFunctions: readonly WindowFunction[] = [
  {
    name: '$derivative',
    manualPage: 'aggregation/derivative',
    status: 'complete',
    compile: compileDerivative,
  },
  { name: '$integral', manualPage: 'aggregation/integral', status: 'complete', compile: compileIntegral },
  {
    name: '$expMovingAvg',
    manualPage: 'aggregation/expMovingAvg',
    status: 'complete',
    compile: compileExpMovingAvg,
  },
  covariance('$covariancePop', false),
  covariance('$covarianceSamp', true),
]
