/** Times use the fault grammar's units, sizes the cluster's. */
import { bandwidthFrom, durationFrom, QuantityError, sizeFrom, timeUnitsMs } from '@shardlab/quantities'

/** Several units, as reports print times. */
const several = /^\s*(?=\d+[a-z]+\s*\d)(\d+d\s*)?(\d+h\s*)?(\d+m\s*)?(\d+s)?\s*$/

/** Operations per second of `5000/s`, `10/m`, `1/h`, `100/d`. @throws QuantityError */
export function parseRate(text: string | number): number {
  const match = /^\s*(\d+(?:\.\d+)?(?:e\d+)?)\s*\/\s*(ms|s|m|h|d)\s*$/i.exec(String(text))
  if (match === null) throw new QuantityError('must be a rate such as 50/s, 10/m or 0/s')
  return (Number(match[1]) * 1000) / timeUnitsMs[match[2]!.toLowerCase() as keyof typeof timeUnitsMs]
}

/**
 * Non-negative: `500ms`, `5s`, `1d`, or several descending units: `12h 30m`, `1d12h`. @throws
 * QuantityError
 */
export function parseTime(text: string | number): number {
  const parts = typeof text === 'string' && several.test(text) ? text.match(/\d+[a-z]+/g)! : [text]
  const ms = parts.reduce<number>((sum, part) => sum + durationFrom(part), 0)
  if (ms < 0) throw new QuantityError('must not be negative')
  return ms
}

/** Positive. @throws QuantityError */
export function parseBytes(text: string | number): number {
  return sizeFrom(text)
}

/** Bytes per second of `100MB/s`, positive. @throws QuantityError */
export function parseBandwidth(text: string | number): number {
  return bandwidthFrom(text)
}

/** Bytes per second of `20GB/d`, positive. @throws QuantityError */
export function parseGrowth(text: string | number): number {
  const match = /^\s*(.+?)\s*\/\s*(s|m|h|d)\s*$/i.exec(String(text))
  if (match === null) throw new QuantityError('must be a growth such as 20GB/d or 100MB/h')
  return (parseBytes(match[1]!) * 1000) / timeUnitsMs[match[2]!.toLowerCase() as keyof typeof timeUnitsMs]
}

/** YAML parses `5e6` as a text. @throws QuantityError */
export function parseNumber(text: string | number): number {
  const value = typeof text === 'number' ? text : /^\s*\d+(\.\d+)?(e\d+)?\s*$/i.test(text) ? Number(text) : Number.NaN
  if (!Number.isFinite(value)) throw new QuantityError('must be a number such as 100 or 5e6')
  return value
}
