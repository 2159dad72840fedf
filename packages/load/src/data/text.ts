/** Texts contain the version that wrote them, and record names encode the record's number. */
import { hash32, mix32, purposes, unmix32 } from './hash.js'

const versionDigits = 10
/** A version, a colon and at least one character that depends on the field. */
export const textLengthMin = versionDigits + 2

const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .'
const starts = 65536

export class Texts {
  readonly #seed: number
  readonly #longest: number
  #pool: string | null = null

  constructor(seed: number, longest: number) {
    this.#seed = seed
    this.#longest = longest
  }

  /**
   * @param version of the write: 0 is the initial load, n + 1 the operation of cycle n
   * @param length in characters, which are bytes; at least {@link textLengthMin}
   */
  text(key: number, field: number, version: number, length: number): string {
    this.#pool ??= this.#makePool()
    const start = hash32(this.#seed ^ mix32(key), version, purposes.value + field) & (starts - 1)
    return `${version.toString(36).padStart(versionDigits, '0')}:${this.#pool.slice(start, start + length - versionDigits - 1)}`
  }

  #makePool(): string {
    const letters = Buffer.alloc(starts + this.#longest)
    for (let i = 0; i < letters.length; i++) letters[i] = alphabet.charCodeAt(hash32(this.#seed, i, purposes.text) & 63)
    return letters.toString('latin1')
  }
}

/** null: not a text of this load test. */
export function versionOfText(text: string): number | null {
  if (text[versionDigits] !== ':') return null
  const digits = text.slice(0, versionDigits)
  return /^[0-9a-z]{10}$/.test(digits) ? Number.parseInt(digits, 36) : null
}

/** Record numbers are below this. */
export const keysMax = 4294967296

/**
 * `user` and ten digits that scatter neighbouring records, as in YCSB's hashed insert order. A
 * bijection.
 */
export function keyName(seed: number, key: number): string {
  return `user${String(mix32(key ^ mix32(seed))).padStart(10, '0')}`
}

/** null: not such a name. */
export function keyOfName(seed: number, name: string): number | null {
  const match = /^user(\d{10})$/.exec(name)
  if (match === null || Number(match[1]) >= keysMax) return null
  return (unmix32(Number(match[1])) ^ mix32(seed)) >>> 0
}
