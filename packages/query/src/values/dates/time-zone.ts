/** Olson names through Intl, and UTC offsets. */
import { CommandError } from '@shardlab/bson'
import { dayMs, daysOfDate } from './calendar.js'

export interface TimeZone {
  readonly isUtc: boolean
  /** Milliseconds that local time is ahead of UTC. */
  offsetAt(utcMs: number): number
}

/** The platform has time zone data up to this distance from the epoch. */
const maxZonedMs = 8.64e15

export const utc: TimeZone = { isUtc: true, offsetAt: () => 0 }

const named = new Map<string, TimeZone>()

/** @throws CommandError 40485 unless it is a known name or an offset such as +01, +0100, +01:00 */
export function timeZone(id: string): TimeZone {
  if (id === 'UTC' || id === 'GMT' || id === 'Z') return utc
  const offset = /^([+-])(\d{2}):?(\d{2})?$/.exec(id)
  if (offset !== null) {
    const ms = (Number(offset[2]) * 60 + Number(offset[3] ?? 0)) * 60_000 * (offset[1] === '-' ? -1 : 1)
    return { isUtc: ms === 0, offsetAt: () => ms }
  }
  let zone = named.get(id)
  if (zone === undefined) {
    zone = olson(id)
    named.set(id, zone)
  }
  return zone
}

function olson(id: string): TimeZone {
  let format: Intl.DateTimeFormat
  try {
    if (!/^[A-Za-z]/.test(id)) throw new RangeError('no name')
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: id,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    throw new CommandError(40485, `unrecognized time zone identifier: "${id}"`)
  }
  return {
    isUtc: false,
    offsetAt(instant) {
      const utcMs = Math.max(-maxZonedMs, Math.min(maxZonedMs, instant))
      const parts: Record<string, string> = {}
      for (const { type, value } of format.formatToParts(utcMs)) parts[type] = value
      const year = parts.era === 'BC' ? 1 - Number(parts.year) : Number(parts.year)
      const local = wallMs(
        year,
        Number(parts.month),
        Number(parts.day),
        Number(parts.hour),
        Number(parts.minute),
        Number(parts.second),
      )
      return local - Math.floor(utcMs / 1000) * 1000
    },
  }
}

/** A local time as milliseconds, as if it were UTC; parts may be out of range. */
export function wallMs(
  year: number,
  month: number,
  day: number,
  hour = 0,
  minute = 0,
  second = 0,
  millisecond = 0,
): number {
  return daysOfDate(year, month, day) * dayMs + ((hour * 60 + minute) * 60 + second) * 1000 + millisecond
}

/** The earlier instant if there are two, and the one after the gap if there is none. */
export function instantOf(wall: number, zone: TimeZone): number {
  const before = wall - zone.offsetAt(wall - dayMs)
  if (wall - zone.offsetAt(before) === before) return before
  const after = wall - zone.offsetAt(wall + dayMs)
  return wall - zone.offsetAt(after) === after ? after : before
}
