import { parseDuration } from '@shardlab/quantities'
import { InvalidArgumentError } from 'commander'

/** A whole number that a double represents exactly; the API checks its range. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

export function seed(text: string): number {
  if (!/^\d{1,10}$/.test(text) || Number(text) >= 2 ** 32)
    throw new InvalidArgumentError('It must be a whole number from 0 to 4294967295.')
  return Number(text)
}

/** A number without a unit is seconds. */
export function seconds(text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text)
  const ms = parseDuration(text)
  if (ms === null || ms < 0) throw new InvalidArgumentError('It must be a time such as 500ms, 30s or 5m.')
  return ms / 1000
}

/** Separated by commas. */
export function names(text: string): string[] {
  return text.split(',').map((name) => name.trim())
}

/** For an option that may be repeated. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value]
}
