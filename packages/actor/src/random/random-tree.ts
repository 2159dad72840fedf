import type { Random } from './random.js'

/** The final mix of MurmurHash3's 32-bit variant: every input bit reaches every output bit. */
function avalanche(word: number): number {
  let mixed = word
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35)
  return mixed ^ (mixed >>> 16)
}

/**
 * sfc32: four words of state. One is a counter, so the period is at least 2^32 from every seed. All
 * words are signed, which V8 stores without boxing: a large cluster has a generator for each link.
 */
class RandomTree implements Random {
  /** Forks are derived from this key; draws do not change it. */
  readonly #k0: number
  readonly #k1: number
  readonly #k2: number
  readonly #k3: number
  #a: number
  #b: number
  #c: number
  #counter: number

  constructor(k0: number, k1: number, k2: number, k3: number) {
    this.#k0 = k0
    this.#k1 = k1
    this.#k2 = k2
    this.#k3 = k3
    this.#a = k0
    this.#b = k1
    this.#c = k2
    this.#counter = k3 | 1
    for (let i = 0; i < 12; i++) this.uint32()
  }

  fork(label: string): Random {
    let a = this.#k0
    let b = this.#k1
    let c = this.#k2
    let d = this.#k3
    for (let i = 0; i < label.length; i++) {
      const unit = label.charCodeAt(i)
      a = b ^ Math.imul(a ^ unit, 0x2397_4db7)
      b = c ^ Math.imul(b ^ unit, 0x9e4f_4df9)
      c = d ^ Math.imul(c ^ unit, 0x51f2_a10d)
      d = a ^ Math.imul(d ^ unit, 0xa4d1_3bb1)
    }
    // The length distinguishes a label from its extension by zero units.
    a = avalanche(a ^ label.length)
    b = avalanche(b ^ a)
    c = avalanche(c ^ b)
    d = avalanche(d ^ c)
    return new RandomTree(a ^ d, b, c, d)
  }

  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  below(limit: number): number {
    if (!Number.isInteger(limit) || limit < 1 || limit > 2 ** 32)
      throw new RangeError(`below() takes 1 to 2^32, not ${limit}`)
    let draw = this.uint32()
    // Draws above the last multiple of `limit` would favour small numbers. The first test avoids
    // the slow remainder of 2^32 for nearly all draws.
    if (draw >= 2 ** 32 - limit) {
      const unbiased = 2 ** 32 - (2 ** 32 % limit)
      while (draw >= unbiased) draw = this.uint32()
    }
    return draw % limit
  }

  fraction(): number {
    return this.uint32() / 2 ** 32
  }

  chance(numerator: number, denominator: number): boolean {
    return this.below(denominator) < numerator
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length)
    let word = 0
    for (let i = 0; i < length; i++) {
      word = (i & 3) === 0 ? this.uint32() : word >>> 8
      bytes[i] = word & 0xff
    }
    return bytes
  }

  shuffled<T>(items: readonly T[]): T[] {
    const result = [...items]
    for (let i = result.length - 1; i > 0; i--) {
      const j = this.below(i + 1)
      const item = result[i] as T
      result[i] = result[j] as T
      result[j] = item
    }
    return result
  }
}

const root = new RandomTree(0x5368_6172, 0x646c_6162, 0x7365_6564, 0x7472_6565)

/**
 * The number 1 and the string '1' are the same seed. A generator's draws depend only on the seed
 * and its path of labels, not on other draws or forks.
 */
export function createRandom(seed: number | string): Random {
  return root.fork(String(seed))
}
