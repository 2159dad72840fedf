/** Calendar parts of instants. */
import { dayMs, wallMs, type TimeZone } from './time-zone.js'

export interface DateParts {
  readonly year: number
  readonly month: number
  readonly dayOfMonth: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly millisecond: number
  /** 1 = January 1. */
  readonly dayOfYear: number
  /** 1 = Sunday. */
  readonly dayOfWeek: number
  /** 1 = Monday. */
  readonly isoDayOfWeek: number
  /** 0 before the year's first Sunday. */
  readonly week: number
  readonly isoWeek: number
  readonly isoWeekYear: number
  readonly offsetMs: number
}

export function datePartsAt(utcMs: number, zone: TimeZone): DateParts {
  const offsetMs = zone.offsetAt(utcMs)
  const date = new Date(utcMs + offsetMs)
  const year = date.getUTCFullYear()
  const today = Math.floor(date.getTime() / dayMs) * dayMs
  const dayOfYear = (today - wallMs(year, 1, 1)) / dayMs + 1
  const weekday = date.getUTCDay()
  const isoDayOfWeek = weekday === 0 ? 7 : weekday
  // The Thursday of a week tells which year the week belongs to.
  const thursday = new Date(today + (4 - isoDayOfWeek) * dayMs)
  const isoWeekYear = thursday.getUTCFullYear()
  return {
    year,
    month: date.getUTCMonth() + 1,
    dayOfMonth: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    millisecond: date.getUTCMilliseconds(),
    dayOfYear,
    dayOfWeek: weekday + 1,
    isoDayOfWeek,
    week: Math.floor((dayOfYear - 1 + 7 - weekday) / 7),
    isoWeek: Math.floor((thursday.getTime() - wallMs(isoWeekYear, 1, 1)) / (7 * dayMs)) + 1,
    isoWeekYear,
    offsetMs,
  }
}

/** Midnight of a day given by ISO week; parts may be out of range. */
export function isoWallMs(isoWeekYear: number, isoWeek: number, isoDayOfWeek: number): number {
  const fourth = wallMs(isoWeekYear, 1, 4)
  const weekday = new Date(fourth).getUTCDay() || 7
  return fourth + (1 - weekday + (isoWeek - 1) * 7 + (isoDayOfWeek - 1)) * dayMs
}
