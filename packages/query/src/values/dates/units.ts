/** Server: `db/query/datetime/date_time_support.cpp`, `dateAdd`. */
import { CommandError } from '@shardlab/bson'
import { dateOfDays, dayMs, daysInMonth } from './calendar.js'
import { instantOf, wallMs, type TimeZone } from './time-zone.js'

/** Units of constant length. */
export const exactUnitsMs = { hour: 3_600_000, minute: 60_000, second: 1000, millisecond: 1 } as const
export const dayUnits = { day: 1, week: 7 } as const
export const monthUnits = { month: 1, quarter: 3, year: 12 } as const

export type ExactUnit = keyof typeof exactUnitsMs
export type DayUnit = keyof typeof dayUnits
export type MonthUnit = keyof typeof monthUnits
export type TimeUnit = ExactUnit | DayUnit | MonthUnit

export const isExactUnit = (unit: TimeUnit): unit is ExactUnit => Object.hasOwn(exactUnitsMs, unit)
export const isDayUnit = (unit: TimeUnit): unit is DayUnit => Object.hasOwn(dayUnits, unit)

/** @throws CommandError FailedToParse (9) */
export function timeUnit(text: string): TimeUnit {
  if (!Object.hasOwn(exactUnitsMs, text) && !Object.hasOwn(dayUnits, text) && !Object.hasOwn(monthUnits, text))
    throw new CommandError('FailedToParse', `unknown time unit value: ${text}`)
  return text as TimeUnit
}

/** Null for units longer than a week, whose length varies. */
export function unitMs(unit: TimeUnit): number | null {
  if (isExactUnit(unit)) return exactUnitsMs[unit]
  return isDayUnit(unit) ? dayUnits[unit] * dayMs : null
}

/**
 * Days and longer units are added in local time; a day that the month does not have becomes the
 * month's last day.
 */
export function addUnits(instant: number, amount: number, unit: TimeUnit, zone: TimeZone): number {
  if (isExactUnit(unit)) return instant + amount * exactUnitsMs[unit]
  const wall = instant + zone.offsetAt(instant)
  if (isDayUnit(unit)) return instantOf(wall + amount * dayUnits[unit] * dayMs, zone)
  const days = Math.floor(wall / dayMs)
  const date = dateOfDays(days)
  const months = date.year * 12 + date.month - 1 + amount * monthUnits[unit]
  const year = Math.floor(months / 12)
  const month = months - year * 12 + 1
  return instantOf(wallMs(year, month, Math.min(date.day, daysInMonth(year, month))) + (wall - days * dayMs), zone)
}
