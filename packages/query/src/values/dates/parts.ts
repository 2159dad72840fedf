import { dateOfDays, dayMs, daysOfDate, weekdayOfDays } from './calendar.js'
import type { TimeZone } from './time-zone.js'

export interface DateParts {
  readonly year: number
  readonly month: number
  readonly dayOfMonth: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly millisecond: number
  readonly dayOfYear: number
  /** 1 is Sunday. */
  readonly dayOfWeek: number
  /** 1 is Monday. */
  readonly isoDayOfWeek: number
  /** 0 before the year's first Sunday. */
  readonly week: number
  readonly isoWeek: number
  readonly isoWeekYear: number
  readonly offsetMs: number
}

export function datePartsAt(utcMs: number, zone: TimeZone): DateParts {
  const offsetMs = zone.offsetAt(utcMs)
  const wall = utcMs + offsetMs
  const days = Math.floor(wall / dayMs)
  const timeOfDay = wall - days * dayMs
  const { year, month, day } = dateOfDays(days)
  const dayOfYear = days - daysOfDate(year, 1, 1) + 1
  const weekday = weekdayOfDays(days)
  const isoDayOfWeek = weekday === 0 ? 7 : weekday
  // A week belongs to the year of its Thursday.
  const thursday = days + 4 - isoDayOfWeek
  const isoWeekYear = dateOfDays(thursday).year
  return {
    year,
    month,
    dayOfMonth: day,
    hour: Math.floor(timeOfDay / 3_600_000),
    minute: Math.floor(timeOfDay / 60_000) % 60,
    second: Math.floor(timeOfDay / 1000) % 60,
    millisecond: timeOfDay % 1000,
    dayOfYear,
    dayOfWeek: weekday + 1,
    isoDayOfWeek,
    week: Math.floor((dayOfYear - 1 + 7 - weekday) / 7),
    isoWeek: Math.floor((thursday - daysOfDate(isoWeekYear, 1, 1)) / 7) + 1,
    isoWeekYear,
    offsetMs,
  }
}

/** Midnight of a day given by ISO week; parts may be out of range. */
export function isoWallMs(isoWeekYear: number, isoWeek: number, isoDayOfWeek: number): number {
  const fourth = daysOfDate(isoWeekYear, 1, 4)
  const weekday = weekdayOfDays(fourth) || 7
  return (fourth + (1 - weekday + (isoWeek - 1) * 7 + (isoDayOfWeek - 1))) * dayMs
}
