import { OptionError } from '../option-error.js'

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** 100 years: an end that is further away could not be told as a date. */
export const longestMs = 36_525 * units['d']!

/** What {@link parseDuration} takes, for patterns. */
export const durationPattern = String.raw`-?\d+(?:\.\d+)?(?:ms|s|m|h|d)`

/**
 * Milliseconds of a number or of a text with ms, s, m, h or d.
 * @throws OptionError for anything else
 */
export function parseDuration(name: string, duration: number | string): number {
  if (typeof duration === 'number' && Number.isFinite(duration)) return duration
  const match = /^(-?\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(duration).trim())
  if (match === null)
    throw new OptionError(
      `${name} is ${typeof duration === 'number' ? duration : JSON.stringify(duration)}; give milliseconds or a time such as 500ms, 5s, 10m, 2h or 1d.`,
    )
  return Number(match[1]) * units[match[2]!]!
}

/** `90s`, `1500ms`, `2h`: the shortest that is exact. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0ms'
  const unit = ['d', 'h', 'm', 's', 'ms'].find((name) => Number.isInteger(ms / units[name]!)) ?? 'ms'
  return `${ms / units[unit]!}${unit}`
}
