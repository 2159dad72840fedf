/** $dateAdd, $dateSubtract, $dateDiff, $dateTrunc. Days and longer are counted on the wall clock of the time zone. */
import { BsonType, CommandError, int64Value, nullValue, type RawValue } from '@shardlab/bson'
import { exactInteger } from '../../../values/arithmetic.js'
import { dateValue } from '../../../values/build.js'
import { dayMs, instantOf, wallMs, type TimeZone } from '../../../values/time-zone.js'
import { formatValue } from '../../../values/format.js'
import { isNullish, namedOperator, typeOf } from '../arguments.js'
import type { ExpressionOperator } from '../expression.js'
import { instantOfValue, zoneOf } from './date.js'

const exactUnitsMs = { hour: 3_600_000, minute: 60_000, second: 1000, millisecond: 1 } as const
const dayUnits = { day: 1, week: 7 } as const
const monthUnits = { month: 1, quarter: 3, year: 12 } as const

type ExactUnit = keyof typeof exactUnitsMs
type DayUnit = keyof typeof dayUnits
type MonthUnit = keyof typeof monthUnits
type Unit = ExactUnit | DayUnit | MonthUnit

const isExact = (unit: Unit): unit is ExactUnit => Object.hasOwn(exactUnitsMs, unit)
const isDays = (unit: Unit): unit is DayUnit => Object.hasOwn(dayUnits, unit)

function unitOf(name: string, value: RawValue, code: number): Unit {
  if (value.type !== BsonType.string) throw new CommandError(code, `${name} requires 'unit' to be a string, but got ${typeOf(value)}`)
  const unit = value.asString()
  if (!Object.hasOwn({ ...exactUnitsMs, ...dayUnits, ...monthUnits }, unit))
    throw new CommandError('FailedToParse', `unknown time unit value: ${unit}`)
  return unit as Unit
}

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** 0 = Sunday; the default of the server is Sunday. */
function weekdayOf(name: string, value: RawValue, code: number): number {
  if (value.type !== BsonType.string)
    throw new CommandError(code, `${name} requires 'startOfWeek' to be a string, but got ${typeOf(value)}`)
  const text = value.asString().toLowerCase()
  const day = weekdays.findIndex((weekday) => weekday === text || weekday.slice(0, 3) === text)
  if (day < 0) throw new CommandError('FailedToParse', `unknown day of week value: ${value.asString()}`)
  return day
}

const maxInstantMs = 8.64e15

function addUnits(instant: number, amount: number, unit: Unit, zone: TimeZone): number {
  if (isExact(unit)) return instant + amount * exactUnitsMs[unit]
  const wall = instant + zone.offsetAt(instant)
  if (isDays(unit)) return instantOf(wall + amount * dayUnits[unit] * dayMs, zone)
  const date = new Date(wall)
  const month = date.getUTCFullYear() * 12 + date.getUTCMonth() + amount * monthUnits[unit]
  const [year, monthOfYear] = [Math.floor(month / 12), ((month % 12) + 12) % 12]
  // The last day of a shorter month stands for those that it does not have.
  const lastDay = new Date(wallMs(year, monthOfYear + 2, 0)).getUTCDate()
  const timeOfDay = wall - Math.floor(wall / dayMs) * dayMs
  return instantOf(wallMs(year, monthOfYear + 1, Math.min(date.getUTCDate(), lastDay)) + timeOfDay, zone)
}

function shifting(name: string, sign: 1 | -1): ExpressionOperator {
  const missing = `${name} requires startDate, unit, and amount to be present`
  return namedOperator(
    name,
    {
      fields: ['startDate', 'unit', 'amount', 'timezone'],
      required: { startDate: [5166402, missing], unit: [5166402, missing], amount: [5166402, missing] },
      notObject: (type) => new CommandError(5166400, `${name} expects an object as its argument.found ${type}`),
      unknown: (field) => new CommandError(5166401, `Unrecognized argument to ${name}: ${field}`),
    },
    ([start, unit, amount, timezone], [, , , zoneGiven]) => {
      if (isNullish(start) || isNullish(unit) || isNullish(amount) || (zoneGiven && isNullish(timezone))) return nullValue
      const instant = instantOfValue(start!)
      if (instant === null) throw new CommandError(5166403, `${name} requires startDate to be convertible to a date`)
      if (unit!.type !== BsonType.string) throw new CommandError(5166404, `${name} expects string defining the time unit`)
      const by = exactInteger(amount!)
      const parsed = unitOf(name, unit!, 5166404)
      if (by === null) throw new CommandError(5166405, `${name} expects integer amount of time units`)
      const shifted = addUnits(instant, Number(by) * sign, parsed, zoneOf(timezone, zoneGiven!)!)
      if (!(Math.abs(shifted) <= maxInstantMs)) throw new CommandError(5166406, `${name} overflowed`)
      return dateValue(shifted)
    },
  )
}

/** How many boundaries of the unit lie between. */
function boundariesBetween(from: number, to: number, unit: Unit, zone: TimeZone, startOfWeek: number): number {
  const [fromOffset, toOffset] = [zone.offsetAt(from), zone.offsetAt(to)]
  const [fromWall, toWall] = [from + fromOffset, to + toOffset]
  if (unit === 'hour')
    return (
      Math.floor(toWall / exactUnitsMs.hour) -
      Math.floor(fromWall / exactUnitsMs.hour) -
      Math.trunc((toOffset - fromOffset) / exactUnitsMs.hour)
    )
  if (isExact(unit)) return Math.floor(to / exactUnitsMs[unit]) - Math.floor(from / exactUnitsMs[unit])
  // January 4, 1970 was the first Sunday.
  const index = (wall: number) => {
    const day = Math.floor(wall / dayMs)
    if (unit === 'day') return day
    if (unit === 'week') return Math.floor((day - 3 - startOfWeek) / 7)
    const date = new Date(wall)
    return Math.floor((date.getUTCFullYear() * 12 + date.getUTCMonth()) / monthUnits[unit])
  }
  return index(toWall) - index(fromWall)
}

const dateDiff = namedOperator(
  '$dateDiff',
  {
    fields: ['startDate', 'endDate', 'unit', 'timezone', 'startOfWeek'],
    required: {
      startDate: [5166303, "Missing 'startDate' parameter to $dateDiff"],
      endDate: [5166304, "Missing 'endDate' parameter to $dateDiff"],
      unit: [5166305, "Missing 'unit' parameter to $dateDiff"],
    },
    notObject: () => new CommandError(5166301, '$dateDiff only supports an object as its argument'),
    unknown: (field) => new CommandError(5166302, `Unrecognized argument to $dateDiff: ${field}`),
  },
  ([start, end, unit, timezone, startOfWeek], [, , , zoneGiven, weekGiven]) => {
    if (isNullish(start) || isNullish(end) || isNullish(unit) || (zoneGiven && isNullish(timezone))) return nullValue
    const instant = (value: RawValue, which: string) => {
      const ms = instantOfValue(value)
      if (ms === null) throw new CommandError(5166307, `$dateDiff requires '${which}' to be a date, but got ${typeOf(value)}`)
      return ms
    }
    const [from, to] = [instant(start!, 'startDate'), instant(end!, 'endDate')]
    const parsed = unitOf('$dateDiff', unit!, 5439013)
    if (parsed === 'week' && weekGiven && isNullish(startOfWeek)) return nullValue
    const weekday = parsed === 'week' && startOfWeek !== undefined ? weekdayOf('$dateDiff', startOfWeek, 5439015) : 0
    return int64Value(BigInt(boundariesBetween(from, to, parsed, zoneOf(timezone, zoneGiven!)!, weekday)))
  },
)

function truncate(instant: number, unit: Unit, binSize: number, zone: TimeZone, startOfWeek: number): number {
  const reference = wallMs(2000, 1, 1)
  if (isExact(unit)) {
    const from = instantOf(reference, zone)
    const bin = binSize * exactUnitsMs[unit]
    return from + Math.floor((instant - from) / bin) * bin
  }
  const wall = instant + zone.offsetAt(instant)
  if (isDays(unit)) {
    // January 1, 2000 was a Saturday; weeks count from the first day of a week on or after it.
    const from = reference + (unit === 'week' ? (startOfWeek + 1) % 7 : 0) * dayMs
    const bin = binSize * dayUnits[unit] * dayMs
    return instantOf(from + Math.floor((wall - from) / bin) * bin, zone)
  }
  const date = new Date(wall)
  const bin = binSize * monthUnits[unit]
  const sinceReference = (date.getUTCFullYear() - 2000) * 12 + date.getUTCMonth()
  return instantOf(wallMs(2000, 1 + Math.floor(sinceReference / bin) * bin, 1), zone)
}

const dateTrunc = namedOperator(
  '$dateTrunc',
  {
    fields: ['date', 'unit', 'binSize', 'timezone', 'startOfWeek'],
    required: {
      date: [5439009, "Missing 'date' parameter to $dateTrunc"],
      unit: [5439010, "Missing 'unit' parameter to $dateTrunc"],
    },
    notObject: () => new CommandError(5439007, '$dateTrunc only supports an object as its argument'),
    unknown: (field) => new CommandError(5439008, `Unrecognized argument to $dateTrunc: ${field}`),
  },
  ([date, unit, binSize, timezone, startOfWeek], [, , binGiven, zoneGiven, weekGiven]) => {
    if (isNullish(date) || isNullish(unit) || (binGiven && isNullish(binSize)) || (zoneGiven && isNullish(timezone))) return nullValue
    const instant = instantOfValue(date!)
    if (instant === null) throw new CommandError(5439012, `$dateTrunc requires 'date' to be a date, but got ${typeOf(date)}`)
    const parsed = unitOf('$dateTrunc', unit!, 5439013)
    if (parsed === 'week' && weekGiven && isNullish(startOfWeek)) return nullValue
    const weekday = parsed === 'week' && startOfWeek !== undefined ? weekdayOf('$dateTrunc', startOfWeek, 5439015) : 0
    const bin = binSize === undefined ? 1n : exactInteger(binSize)
    if (bin === null)
      throw new CommandError(
        5439017,
        `$dateTrunc requires 'binSize' to be a 64-bit integer, but got value '${formatValue(binSize)}' of type ${typeOf(binSize)}`,
      )
    if (bin <= 0n) throw new CommandError(5439018, `$dateTrunc requires 'binSize' to be greater than 0, but got value ${bin}`)
    return dateValue(truncate(instant, parsed, Number(bin), zoneOf(timezone, zoneGiven!)!, weekday))
  },
)

export const dateArithmeticExpressions: readonly ExpressionOperator[] = [
  shifting('$dateAdd', 1),
  shifting('$dateSubtract', -1),
  dateDiff,
  dateTrunc,
]
