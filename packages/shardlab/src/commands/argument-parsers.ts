import { durationFrom, sizeFrom } from '@shardlab/quantities'
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

/** From 1 on. */
export function count(text: string): number {
  const value = wholeNumber(text)
  if (value === 0) throw new InvalidArgumentError('It must be at least 1.')
  return value
}

/** 0: any free one. */
export function portNumber(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new InvalidArgumentError('It must be a port from 0 to 65535.')
  return port
}

/** `500ms`, `30s`, `5m` */
export function milliseconds(text: string): number {
  const ms = quantity(text, durationFrom)
  if (ms < 0) throw new InvalidArgumentError('It must not be negative.')
  return ms
}

export function seconds(text: string): number {
  return milliseconds(text) / 1000
}

/** A text with its unit, which the API reads. */
export function size(text: string): string {
  quantity(text, sizeFrom)
  return text
}

function quantity(text: string, read: (text: string) => number): number {
  try {
    return read(text)
  } catch (error) {
    throw new InvalidArgumentError(`It ${(error as Error).message}.`)
  }
}

/** Separated by commas. */
export function names(text: string): string[] {
  return text.split(',').map((name) => name.trim())
}

/** For an option that may be repeated. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value]
}
