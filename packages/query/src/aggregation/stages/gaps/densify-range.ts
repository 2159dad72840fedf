/** Numbers, or dates by a unit of time. Server: `RangeStatement`, `DensifyValue`. */
import { BsonType, CommandError, compareValues, elementsOf, int32Value, type RawValue } from '@shardlab/bson'
import { exactInteger, toNumber } from '../../../values/arithmetic.js'
import { dateValue } from '../../../values/build.js'
import { addUnits, timeUnit, unitMs, type TimeUnit } from '../../../values/dates/units.js'
import { parseStruct } from '../../../values/idl.js'
import { utc } from '../../../values/dates/time-zone.js'
import { add, mod, subtract } from '../../expressions/operators/numbers/arithmetic.js'

export type DensifyBounds = 'full' | 'partition' | readonly [low: RawValue, high: RawValue]

export interface DensifyRange {
  readonly bounds: DensifyBounds
  step(value: RawValue, direction: 1 | -1): RawValue
  /** Whether a whole number of steps separates the values. */
  isOnStep(value: RawValue, from: RawValue): boolean
  /** @throws CommandError 5733201, 6053600 for a value that this range does not allow */
  check(value: RawValue): void
}

const numberTypes = ['int', 'decimal', 'double', 'long']

/** @throws CommandError 57334xx, 6586400, 5876900, 594680x */
export function parseDensifyRange(argument: RawValue): DensifyRange {
  const given = parseStruct('$densify.range', argument, {
    step: { types: numberTypes, required: true },
    unit: { types: ['string'] },
    bounds: { required: true },
  })
  const step = given.get('step')!
  if (compareValues(step, int32Value(0)) <= 0)
    throw new CommandError(5733401, 'The step parameter in a range statement must be a strictly positive numeric value')
  const unitText = given.get('unit')
  if (unitText === undefined) return numberRange(step, boundsOf(given.get('bounds')!, step, false))
  const whole = exactInteger(step)
  if (whole === null)
    throw new CommandError(
      6586400,
      'The step parameter in a range statement must be a whole number when densifying a date range',
    )
  return dateRange(Number(whole), timeUnit(unitText.asString()), boundsOf(given.get('bounds')!, step, true))
}

function boundsOf(bounds: RawValue, step: RawValue, hasUnit: boolean): DensifyBounds {
  if (bounds.type === BsonType.string) {
    const text = bounds.asString()
    if (text !== 'full' && text !== 'partition')
      throw new CommandError(5946802, "Bounds string must either be 'full' or 'partition'")
    return text
  }
  if (bounds.type !== BsonType.array)
    throw new CommandError(
      5733404,
      "The bounds in a range statement must be the string 'full', 'partition', or an ascending array of two numbers or two dates",
    )
  const [low, high, ...rest] = elementsOf(bounds)
  if (low === undefined || high === undefined || rest.length > 0)
    throw new CommandError(5733403, 'A bounding array in a range statement must have exactly two elements')
  if (compareValues(low, high) > 0)
    throw new CommandError(5733402, 'A bounding array must be an ascending array of either two dates or two numbers')
  const mixed = (code: number) =>
    new CommandError(code, 'A bounding array must contain either both dates or both numeric types')
  if (low.isNumber()) {
    if (hasUnit) throw new CommandError(5733409, 'Numeric bounds may not have unit parameter')
    if (!high.isNumber()) throw mixed(5733406)
    if (low.type !== high.type || low.type !== step.type)
      throw new CommandError(5876900, 'Upper bound, lower bound, and step must all have the same type')
  } else if (low.type === BsonType.date) {
    if (high.type !== BsonType.date) throw mixed(5733405)
    if (!hasUnit) throw new CommandError(5733410, 'A bounding array of dates must specify a unit')
  } else throw new CommandError(5946800, 'Explicit bounds must be numeric or dates')
  return [low, high]
}

function checkType(value: RawValue, wantsDates: boolean): void {
  const isDate = value.type === BsonType.date
  if (!isDate && !value.isNumber()) throw new CommandError(5733201, 'Densify field type must be numeric or a date')
  if (isDate === wantsDates) return
  throw new CommandError(
    6053600,
    isDate
      ? 'Encountered date densify value in collection when step does not have a date unit.'
      : 'Encountered numeric densify value in collection when step has a date unit.',
  )
}

function numberRange(step: RawValue, bounds: DensifyBounds): DensifyRange {
  return {
    bounds,
    step: (value, direction) => (direction === 1 ? add([value, step]) : subtract([value, step])),
    isOnStep: (value, from) => toNumber(mod([subtract([value, from]), step])) === 0,
    check: (value) => checkType(value, false),
  }
}

function dateRange(count: number, unit: TimeUnit, bounds: DensifyBounds): DensifyRange {
  const msOf = (value: RawValue) => Number(value.asBigInt())
  const step = (value: RawValue, direction: 1 | -1) => dateValue(addUnits(msOf(value), count * direction, unit, utc))
  const fixedMs = unitMs(unit)
  return {
    bounds,
    step,
    isOnStep(value, from) {
      if (fixedMs !== null) return (msOf(value) - msOf(from)) % (count * fixedMs) === 0
      let at = from
      while (compareValues(at, value) < 0) at = step(at, 1)
      return compareValues(at, value) === 0
    },
    check: (value) => checkType(value, true),
  }
}
