import { OptionError } from './option-error.js'

const units: Readonly<Record<string, number>> = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }

/**
 * Bytes of a number or of a text with KB, MB or GB (powers of 1024).
 * @throws OptionError for anything else
 */
export function parseSize(name: string, size: number | string): number {
  const match =
    typeof size === 'number' ? [null, String(size), 'B'] : /^\s*(\d+(?:\.\d+)?)\s*(B|KB|MB|GB)?\s*$/i.exec(String(size))
  const bytes = match === null ? Number.NaN : Number(match[1]) * units[(match[2] ?? 'B').toUpperCase()]!
  if (!Number.isSafeInteger(bytes) || bytes <= 0)
    throw new OptionError(`${name} is ${JSON.stringify(size)}; give bytes or a size such as 64KB, 128MB or 1GB.`)
  return bytes
}
