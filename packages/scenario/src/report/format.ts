export { readableDuration as timeText, readableSize as bytesText } from '@shardlab/quantities'

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** The largest unit in which this size is at least one, so that ticks are round numbers. */
export function unitOf(largest: number): { readonly bytes: number; readonly name: string } {
  let [bytes, unit] = [1, 0]
  while (largest / bytes >= 1024 && unit < units.length - 1) {
    bytes *= 1024
    unit++
  }
  return { bytes, name: units[unit]! }
}

/** `01:02:03`, preceded by days if any. */
export function clockText(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const two = (value: number): string => String(value).padStart(2, '0')
  const days = Math.floor(seconds / 86_400)
  return `${days > 0 ? `${days}d ` : ''}${two(Math.floor(seconds / 3600) % 24)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
}

/** shard100 after shard99. */
export const byName = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })

export const whole = (value: number): string => Math.round(value).toLocaleString('en')
/** At most three significant digits. */
export const short = (value: number): string => Number(value.toPrecision(3)).toLocaleString('en')
export const percent = (share: number): string => `${(share * 100).toFixed(1)}%`
export const ratio = (value: number): string => value.toFixed(2)
