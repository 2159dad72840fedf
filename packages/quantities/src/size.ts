/** Powers of 1024, smallest unit first. */
export const sizeUnitsBytes = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 } as const

type SizeUnit = keyof typeof sizeUnitsBytes

const units = Object.keys(sizeUnitsBytes) as SizeUnit[]

export const sizeHint = 'bytes or a size such as 64KB, 128MB or 1GB'

const wholeText = new RegExp(String.raw`^\s*(\d+(?:\.\d+)?)\s*(${units.join('|')})?\s*$`, 'i')

/** Without a unit the number is bytes. null: not a size, or not whole bytes. */
export function parseSize(text: string): number | null {
  const match = wholeText.exec(text)
  if (match === null) return null
  const bytes = Number(match[1]) * sizeUnitsBytes[(match[2] ?? 'B').toUpperCase() as SizeUnit]
  return Number.isSafeInteger(bytes) ? bytes : null
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
