/** The Gregorian calendar for all years; `Date` ends at the year 275760. */

export const dayMs = 86_400_000

export interface CivilDate {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly day: number
}

/** The calendar repeats after 400 years. */
const eraDays = 146_097

/** Days since 1970-01-01; month and day may be out of range. */
export function daysOfDate(year: number, month: number, day: number): number {
  const months = year * 12 + month - 1
  const y = Math.floor(months / 12)
  const m = months - y * 12 + 1
  // Years start in March, so that the leap day is the last of the year.
  const marchYear = m <= 2 ? y - 1 : y
  const era = Math.floor(marchYear / 400)
  const yearOfEra = marchYear - era * 400
  const dayOfYear = Math.floor((153 * (m > 2 ? m - 3 : m + 9) + 2) / 5)
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * eraDays + dayOfEra - 719_468 + day - 1
}

export function dateOfDays(days: number): CivilDate {
  const shifted = days + 719_468
  const era = Math.floor(shifted / eraDays)
  const dayOfEra = shifted - era * eraDays
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
  }
}

/** 0 is Sunday. */
export function weekdayOfDays(days: number): number {
  return (((days + 4) % 7) + 7) % 7
}

export function daysInMonth(year: number, month: number): number {
  return daysOfDate(year, month + 1, 1) - daysOfDate(year, month, 1)
}
