/** Smallest unit first. */
export const timeUnitsMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

type TimeUnit = keyof typeof timeUnitsMs

const units = Object.keys(timeUnitsMs) as TimeUnit[]
const number = String.raw`-?\d+(?:\.\d+)?`

/** Texts that {@link parseDuration} accepts, as a regular expression without groups. */
export const durationPattern = `${number}(?:${units.join('|')})`

/** For error texts. */
export const durationHint = 'milliseconds or a time such as 500ms, 5s, 10m, 2h or 1d'

const wholeText = new RegExp(`^(${number})(${units.join('|')})$`)

/** Milliseconds of `500ms`, `1.5h` or `-2d`; the unit is required. null: not a duration. */
export function parseDuration(text: string): number | null {
  const match = wholeText.exec(text.trim())
  return match === null ? null : Number(match[1]) * timeUnitsMs[match[2] as TimeUnit]
}

/** `90s`, `1500ms`, `2h`: in the largest unit of which it is a whole number. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0ms'
  const unit = units.findLast((name) => Number.isInteger(ms / timeUnitsMs[name])) ?? 'ms'
  return `${ms / timeUnitsMs[unit]}${unit}`
}
