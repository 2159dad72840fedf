import {
  durationHint,
  formatSize,
  parseDuration as durationOf,
  parseSize as sizeOf,
  sizeHint,
} from '@shardlab/quantities'
import { OptionError } from './option-error.js'

/** 100 years: the end of a longer duration cannot be represented as a date. */
export const longestMs = 36_525 * 86_400_000

/**
 * @param duration milliseconds, or a text such as `500ms`, `5s`, `-2h`
 * @throws OptionError for anything else
 */
export function parseDuration(name: string, duration: number | string): number {
  const ms = typeof duration === 'number' ? duration : durationOf(String(duration))
  if (ms === null || !Number.isFinite(ms))
    throw new OptionError(
      `${name} is ${typeof duration === 'number' ? duration : JSON.stringify(duration)}; give ${durationHint}.`,
    )
  return ms
}

/**
 * @param size bytes, or a text such as `64KB`, `1GB`; at least 1
 * @throws OptionError for anything else
 */
export function parseSize(name: string, size: number | string): number {
  const bytes = sizeOf(String(size))
  if (bytes === null || bytes === 0) throw new OptionError(`${name} is ${JSON.stringify(size)}; give ${sizeHint}.`)
  return bytes
}

/**
 * @param rate bytes a second, or a text such as `10MB/s`; at least 1
 * @throws OptionError for anything else
 */
export function parseRate(name: string, rate: number | string): number {
  const bytes = sizeOf(typeof rate === 'number' ? String(rate) : (/^(.*)\/s$/.exec(rate.trim())?.[1] ?? ''))
  if (bytes === null || bytes === 0)
    throw new OptionError(`${name} is ${JSON.stringify(rate)}; give bytes a second or a rate such as 64KB/s or 10MB/s.`)
  return bytes
}

/** `10MB/s`: in the largest unit of which it is a whole number. */
export function formatRate(bytesPerSecond: number): string {
  return `${formatSize(bytesPerSecond)}/s`
}
