import { bareNumber, QuantityError } from './quantity-error.js'

/** Smallest unit first. */
export const timeUnitsMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

type TimeUnit = keyof typeof timeUnitsMs

const units = Object.keys(timeUnitsMs) as TimeUnit[]
const number = String.raw`-?\d+(?:\.\d+)?`

/** Texts that {@link parseDuration} accepts, as a regular expression without groups. */
export const durationPattern = `${number}(?:${units.join('|')})`

const wholeText = new RegExp(`^(${number})(${units.join('|')})$`)
/** As people write units elsewhere: `5 seconds`, `5S`, `5 min`. */
const inWords = new RegExp(
  `^(${number})\\s*(ms|msecs?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)$`,
  'i',
)

/** Milliseconds of `500ms`, `1.5h` or `-2d`; the unit is required. null: not a duration. */
export function parseDuration(text: string): number | null {
  const match = wholeText.exec(text.trim())
  return match === null ? null : Number(match[1]) * timeUnitsMs[match[2] as TimeUnit]
}

/**
 * Milliseconds, as {@link parseDuration}; 0 needs no unit.
 * @throws QuantityError
 */
export function durationFrom(value: unknown): number {
  const ms = typeof value === 'string' ? parseDuration(value) : null
  if (ms !== null) return ms
  const bare = bareNumber(value)
  if (bare !== null && Number(bare) === 0) return 0
  if (bare !== null) throw new QuantityError(`must have a unit, such as ${bare}ms or ${bare}s`)
  const meant = typeof value === 'string' ? durationMeant(value) : null
  throw new QuantityError(
    meant === null ? 'must be a time such as 500ms, 5s, 10m, 2h or 1d' : `must be a time such as ${meant}`,
  )
}

/** `5s` for `5 seconds`; null: no duration in other words. */
export function durationMeant(text: string): string | null {
  const match = inWords.exec(text.trim())
  if (match === null) return null
  const unit = match[2]!.toLowerCase()
  return `${match[1]}${/^m(s|il)/.test(unit) ? 'ms' : unit[0]}`
}

/** `90s`, `1500ms`, `2h`: in the largest unit of which it is a whole number. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0ms'
  const unit = units.findLast((name) => Number.isInteger(ms / timeUnitsMs[name])) ?? 'ms'
  return `${ms / timeUnitsMs[unit]}${unit}`
}

/** For people, in at most two units, at least seconds: `45s`, `12m 30s`, `2h 05m`, `3d 4h`. */
export function readableDuration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ]
  const two = (value: number): string => String(value).padStart(2, '0')
  if (days > 0) return hours === 0 ? `${days}d` : `${days}d ${hours}h`
  if (hours > 0) return minutes === 0 ? `${hours}h` : `${hours}h ${two(minutes)}m`
  if (minutes > 0) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m ${two(seconds % 60)}s`
  return `${seconds}s`
}
