import { bareNumber, QuantityError } from './quantity-error.js'

/** Powers of 1024, smallest unit first. */
export const sizeUnitsBytes = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 } as const

type SizeUnit = keyof typeof sizeUnitsBytes

const units = Object.keys(sizeUnitsBytes) as SizeUnit[]

const wholeText = new RegExp(String.raw`^\s*(\d+(?:\.\d+)?)\s*(${units.join('|')})\s*$`, 'i')

/** Bytes of `64KB` or `1.5 gb`; the unit is required. null: not a size, or not whole bytes. */
export function parseSize(text: string): number | null {
  const match = wholeText.exec(text)
  if (match === null) return null
  const bytes = Number(match[1]) * sizeUnitsBytes[match[2]!.toUpperCase() as SizeUnit]
  return Number.isSafeInteger(bytes) ? bytes : null
}

/**
 * Bytes, at least 1.
 * @throws QuantityError
 */
export function sizeFrom(value: unknown): number {
  const bytes = typeof value === 'string' ? parseSize(value) : null
  if (bytes !== null && bytes > 0) return bytes
  const bare = bareNumber(value)
  if (bare !== null && Number(bare) > 0) throw new QuantityError(`must have a unit, such as ${bare}KB or ${bare}MB`)
  throw new QuantityError('must be a size such as 64KB, 128MB or 1GB')
}

/**
 * Bytes a second of `10MB/s`, at least 1.
 * @throws QuantityError
 */
export function bandwidthFrom(value: unknown): number {
  const bytes = typeof value === 'string' ? parseSize(/^(.*)\/\s*s\s*$/.exec(value)?.[1] ?? '') : null
  if (bytes === null || bytes === 0) throw new QuantityError('must be a rate such as 64KB/s or 10MB/s')
  return bytes
}

/** `10MB`, `1000B`: in the largest unit of which it is a whole number. */
export function formatSize(bytes: number): string {
  const unit = bytes === 0 ? 'B' : (units.findLast((name) => bytes % sizeUnitsBytes[name] === 0) ?? 'B')
  return `${bytes / sizeUnitsBytes[unit]}${unit}`
}

const readableUnits = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** For people, rounded: `820 B`, `1.54 MB`, `308 GB`. */
export function readableSize(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < readableUnits.length - 1) {
    value /= 1024
    unit++
  }
  const rounded = unit === 0 || value >= 100 ? Math.round(value) : Number(value.toPrecision(3))
  return `${rounded} ${readableUnits[unit]!}`
}

/** Replaces `308234567890 bytes` in a sentence with `287 GB`. */
export function withReadableSizes(sentence: string): string {
  return sentence.replaceAll(/\b(\d+) bytes\b/g, (_, bytes: string) => readableSize(Number(bytes)))
}
