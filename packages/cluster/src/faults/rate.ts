import { OptionError } from '../option-error.js'
import { parseSize } from '../size.js'

/**
 * Bytes in a second, of a number or of a text such as `10MB/s`.
 * @throws OptionError for anything else
 */
export function parseRate(rate: number | string): number {
  const text = typeof rate === 'number' ? rate : (/^(.*)\/s$/.exec(rate.trim())?.[1] ?? '')
  try {
    return parseSize('a rate', text)
  } catch {
    throw new OptionError(
      `a rate is ${JSON.stringify(rate)}; give bytes in a second or a rate such as 64KB/s or 10MB/s.`,
    )
  }
}

/** `10MB/s`: the shortest that is exact. */
export function formatRate(bytesPerSecond: number): string {
  const units = [
    ['GB', 1024 ** 3],
    ['MB', 1024 ** 2],
    ['KB', 1024],
    ['B', 1],
  ] as const
  const [unit, bytes] = units.find(([, size]) => bytesPerSecond % size === 0)!
  return `${bytesPerSecond / bytes}${unit}/s`
}
