/** Units from the day upwards are counted in the local time of the time zone. */
import { BsonType, CommandError, int64Value, nullValue, readUint32, type RawValue } from '@shardlab/bson'
import { exactInteger } from '../../../../values/arithmetic.js'
import { dateValue } from '../../../../values/build.js'
import { dateOfDays, dayMs } from '../../../../values/dates/calendar.js'
import {
  addUnits,
  dayUnits,
  exactUnitsMs,
  isDayUnit,
  isExactUnit,
  monthUnits,
  timeUnit,
  type TimeUnit,
} from '../../../../values/dates/units.js'
import { instantOf, wallMs, type TimeZone } from '../../../../values/dates/time-zone.js'
import { formatEvaluated } from '../../../../values/format.js'
import { isNullish, namedOperator, typeOf, unary } from '../../arguments.js'
import type { ExpressionOperator } from '../../expression.js'
import { instantOfValue, zoneOf } from './parts.js'

function unitOf(name: string, value: RawValue): TimeUnit {
  if (value.type !== BsonType.string)
    throw new CommandError(5439013, `${name} requires 'unit' to be a string, but got ${typeOf(value)}`)
  return inContext(`${name} parameter 'unit' value parsing failed`, () => timeUnit(value.asString()))
}

function inContext<T>(doing: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw error instanceof CommandError
      ? new CommandError(error.code, `${doing} :: caused by :: ${error.message}`)
      : error
  }
}

function zoneIn(name: string, value: RawValue | undefined, wasGiven: boolean): TimeZone | null {
  return inContext(`${name} parameter 'timezone' value parsing failed`, () => zoneOf(value, wasGiven))
}

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** 0 is Sunday, the server's default. */
function weekdayOf(name: string, value: RawValue): number {
  if (value.type !== BsonType.string)
    throw new CommandError(5439015, `${name} requires 'startOfWeek' to be a string, but got ${typeOf(value)}`)
  const text = value.asString().toLowerCase()
  const day = weekdays.findIndex((weekday) => weekday === text || weekday.slice(0, 3) === text)
  if (day < 0)
    throw new CommandError(
      5439016,
      `${name} parameter 'startOfWeek' value cannot be recognized as a day of a week: ${value.asString()}`,
    )
  return day
}

function instantNamed(name: string, parameter: string, value: RawValue, code = 5166307): number {
  const ms = instantOfValue(value)
  if (ms === null)
    throw new CommandError(code, `${name} requires '${parameter}' to be a date, but got ${typeOf(value)}`)
  return ms
}

/** The range of 64-bit dates, roughly. */
const maxAmounts: Readonly<Record<TimeUnit, number>> = (() => {
  const days = 213_503_982_335
  const years = Math.floor(days / 365) + 1
  return {
    year: years,
    quarter: years * 4,
    month: years * 12,
    week: Math.floor(days / 7),
    day: days,
    hour: days * 24,
    minute: days * 1440,
    second: days * 86_400,
    millisecond: Infinity,
  }
})()

/** The greatest double that fits a 64-bit date. */
const maxInstantMs = 2 ** 63 - 1024

function shifting(name: string, sign: 1 | -1): ExpressionOperator {
  const missing = `${name} requires startDate, unit, and amount to be present`
  return namedOperator(
    name,
    {
      fields: ['startDate', 'unit', 'amount', 'timezone'],
      required: { startDate: [5166402, missing], unit: [5166402, missing], amount: [5166402, missing] },
      notObject: () => new CommandError(5166400, `${name} expects an object as its argument`),
      unknown: (field) =>
        new CommandError(
          5166401,
          `Unrecognized argument to ${name}: ${field}. Expected arguments are startDate, unit, amount, and optionally timezone.`,
        ),
    },
    ([start, unit, amount, timezone], [, , , zoneGiven]) => {
      if (isNullish(start) || isNullish(unit)) return nullValue
      const parsed = unitOf(name, unit!)
      if (isNullish(amount)) return nullValue
      const zone = zoneOf(timezone, zoneGiven!)
      if (zone === null) return nullValue
      const instant = instantOfValue(start!)
      if (instant === null) throw new CommandError(5166403, `${name} requires startDate to be convertible to a date`)
      const by = exactInteger(amount!)
      if (by === null) throw new CommandError(5166405, `${name} expects integer amount of time units`)
      if (sign === -1 && by === -(1n << 63n))
        throw new CommandError(6045000, `invalid $dateSubtract 'amount' parameter value: ${by}`)
      const count = Number(by) * sign
      if (!(Math.abs(count) < maxAmounts[parsed]))
        throw new CommandError(5976500, `invalid dateAdd 'amount' parameter value: ${count} ${parsed}`)
      const shifted = addUnits(instant, count, parsed, zone)
      if (!(Math.abs(shifted) <= maxInstantMs)) throw new CommandError(5166406, 'dateAdd overflowed')
      return dateValue(shifted)
    },
  )
}

function boundariesBetween(from: number, to: number, unit: TimeUnit, zone: TimeZone, startOfWeek: number): number {
  const [fromOffset, toOffset] = [zone.offsetAt(from), zone.offsetAt(to)]
  const [fromWall, toWall] = [from + fromOffset, to + toOffset]
  if (unit === 'hour')
    return (
      Math.floor(toWall / exactUnitsMs.hour) -
      Math.floor(fromWall / exactUnitsMs.hour) -
      Math.trunc((toOffset - fromOffset) / exactUnitsMs.hour)
    )
  if (isExactUnit(unit)) return Math.floor(to / exactUnitsMs[unit]) - Math.floor(from / exactUnitsMs[unit])
  // January 4, 1970 was the first Sunday.
  const index = (wall: number) => {
    const day = Math.floor(wall / dayMs)
    if (unit === 'day') return day
    if (unit === 'week') return Math.floor((day - 3 - startOfWeek) / 7)
    const { year, month } = dateOfDays(day)
    return Math.floor((year * 12 + month - 1) / monthUnits[unit])
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
    if (isNullish(start) || isNullish(end) || isNullish(unit)) return nullValue
    const parsed = unitOf('$dateDiff', unit!)
    if (parsed === 'week' && weekGiven && isNullish(startOfWeek)) return nullValue
    const weekday = parsed === 'week' && startOfWeek !== undefined ? weekdayOf('$dateDiff', startOfWeek) : 0
    const zone = zoneIn('$dateDiff', timezone, zoneGiven!)
    if (zone === null) return nullValue
    const from = instantNamed('$dateDiff', 'startDate', start!)
    const to = instantNamed('$dateDiff', 'endDate', end!)
    return int64Value(BigInt(boundariesBetween(from, to, parsed, zone, weekday)))
  },
)

function truncate(instant: number, unit: TimeUnit, binSize: number, zone: TimeZone, startOfWeek: number): number {
  const reference = wallMs(2000, 1, 1)
  if (isExactUnit(unit)) {
    const from = instantOf(reference, zone)
    const bin = binSize * exactUnitsMs[unit]
    return from + Math.floor((instant - from) / bin) * bin
  }
  const wall = instant + zone.offsetAt(instant)
  if (isDayUnit(unit)) {
    // January 1, 2000 was a Saturday; weeks count from the first day of a week on or after it.
    const from = reference + (unit === 'week' ? (startOfWeek + 1) % 7 : 0) * dayMs
    const bin = binSize * dayUnits[unit] * dayMs
    return instantOf(from + Math.floor((wall - from) / bin) * bin, zone)
  }
  const { year, month } = dateOfDays(Math.floor(wall / dayMs))
  const bin = binSize * monthUnits[unit]
  const sinceReference = (year - 2000) * 12 + month - 1
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
    unknown: (field) =>
      new CommandError(
        5439008,
        `Unrecognized argument to $dateTrunc: ${field}. Expected arguments are date, unit, and optionally, binSize, timezone, startOfWeek`,
      ),
  },
  ([date, unit, binSize, timezone, startOfWeek], [, , binGiven, zoneGiven, weekGiven]) => {
    if (isNullish(date) || (binGiven && isNullish(binSize))) return nullValue
    const bin = binSize === undefined ? 1n : exactInteger(binSize)
    if (bin === null)
      throw new CommandError(
        5439017,
        `$dateTrunc requires 'binSize' to be a 64-bit integer, but got value '${formatEvaluated(binSize)}' of type ${typeOf(binSize)}`,
      )
    if (bin <= 0n)
      throw new CommandError(5439018, `$dateTrunc requires 'binSize' to be greater than 0, but got value ${bin}`)
    if (isNullish(unit)) return nullValue
    const parsed = unitOf('$dateTrunc', unit!)
    if (parsed === 'week' && weekGiven && isNullish(startOfWeek)) return nullValue
    const weekday = parsed === 'week' && startOfWeek !== undefined ? weekdayOf('$dateTrunc', startOfWeek) : 0
    const zone = zoneIn('$dateTrunc', timezone, zoneGiven!)
    if (zone === null) return nullValue
    const instant = instantNamed('$dateTrunc', 'date', date!, 5439012)
    const isLong = !isExactUnit(parsed)
    if (isLong && bin > 100_000_000_000n) throw new CommandError(5439006, 'dateTrunc unsupported binSize value')
    if (!isLong && bin * BigInt(exactUnitsMs[parsed]) >= 1n << 63n)
      throw new CommandError(5439002, 'dateTrunc overflowed')
    return dateValue(truncate(instant, parsed, Number(bin), zone, weekday))
  },
)

function timestampPart(name: string, code: number, offset: number): ExpressionOperator {
  return unary(name, (value) => {
    if (value === undefined || value.isNullish()) return nullValue
    if (value.type !== BsonType.timestamp)
      throw new CommandError(code, ` Argument to ${name} must be a timestamp, but is ${typeOf(value)}`)
    return int64Value(BigInt(readUint32(value.bytes, value.start + offset)))
  })
}

export const dateArithmeticExpressions: readonly ExpressionOperator[] = [
  shifting('$dateAdd', 1),
  shifting('$dateSubtract', -1),
  dateDiff,
  dateTrunc,
  timestampPart('$tsSecond', 5687301, 4),
  timestampPart('$tsIncrement', 5687302, 0),
]
