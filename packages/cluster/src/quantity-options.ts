import { bandwidthFrom, durationFrom, formatSize, QuantityError, sizeFrom } from '@shardlab/quantities'
import { OptionError } from './option-error.js'

/** 100 years: the end of a longer duration cannot be represented as a date. */
export const longestMs = 36_525 * 86_400_000

/**
 * @param duration a text such as `500ms`, `5s`, `-2h`
 * @throws OptionError for anything else
 */
export function parseDuration(name: string, duration: string): number {
  return named(name, duration, durationFrom)
}

/** In milliseconds. @throws OptionError */
export function timeToAdvance(duration: number | string): number {
  const durationMs = typeof duration === 'number' ? duration : parseDuration('the time to advance', duration)
  if (!Number.isFinite(durationMs))
    throw new OptionError(
      `the time to advance is ${durationMs}; it must be a number of milliseconds, or a time such as 15m.`,
    )
  if (durationMs > longestMs)
    throw new OptionError(`the time to advance is ${JSON.stringify(duration)}; give at most 36525d, 100 years.`)
  if (durationMs < 0)
    throw new OptionError(`the time to advance is ${JSON.stringify(duration)}; it must not be negative.`)
  return durationMs
}

/**
 * @param size a text such as `64KB`, `1GB`; at least one byte
 * @throws OptionError for anything else
 */
export function parseSize(name: string, size: string): number {
  return named(name, size, sizeFrom)
}

/**
 * @param rate a text such as `10MB/s`; at least one byte a second
 * @throws OptionError for anything else
 */
export function parseRate(name: string, rate: string): number {
  return named(name, rate, bandwidthFrom)
}

function named(name: string, value: string, read: (value: unknown) => number): number {
  try {
    return read(value)
  } catch (error) {
    if (error instanceof QuantityError)
      throw new OptionError(`${name} is ${JSON.stringify(value) ?? 'missing'}; it ${error.message}.`)
    throw error
  }
}

/** `10MB/s`: in the largest unit of which it is a whole number. */
export function formatRate(bytesPerSecond: number): string {
  return `${formatSize(bytesPerSecond)}/s`
}
