import type { Random } from './random.js'

type Key = readonly [number, number, number, number]

const rootKey: Key = [0x5368_6172, 0x646c_6162, 0x7365_6564, 0x7472_6565]

/** The final mix of MurmurHash3's 32-bit variant: every input bit reaches every output bit. */
function avalanche(word: number): number {
  let mixed = word
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** The key of the generator called `label` under the one with `key`. */
function childKey(key: Key, label: string): Key {
  let [a, b, c, d] = key
  for (let i = 0; i < label.length; i++) {
    const unit = label.charCodeAt(i)
    a = b ^ Math.imul(a ^ unit, 0x2397_4db7)
    b = c ^ Math.imul(b ^ unit, 0x9e4f_4df9)
    c = d ^ Math.imul(c ^ unit, 0x51f2_a10d)
    d = a ^ Math.imul(d ^ unit, 0xa4d1_3bb1)
  }
  // The length keeps a label and its extension by zero units apart.
  a = avalanche(a ^ label.length)
  b = avalanche(b ^ a)
  c = avalanche(c ^ b)
  d = avalanche(d ^ c)
  return [(a ^ d) >>> 0, b, c, d]
}

/** sfc32: 128 bits of state, one of them a counter, so that the period is at least 2^32 from every seed. */
class RandomTree implements Random {
  readonly #key: Key
  #a: number
  #b: number
  #c: number
  #counter: number

  constructor(key: Key) {
    this.#key = key
    this.#a = key[0]
    this.#b = key[1]
    this.#c = key[2]
    this.#counter = key[3] | 1
    for (let i = 0; i < 12; i++) this.uint32()
  }

  fork(label: string): Random {
    return new RandomTree(childKey(this.#key, label))
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
    if (!Number.isInteger(limit) || limit < 1 || limit > 2 ** 32) throw new RangeError(`below() takes 1 to 2^32, not ${limit}`)
    const unbiased = 2 ** 32 - (2 ** 32 % limit)
    let draw = this.uint32()
    while (draw >= unbiased) draw = this.uint32()
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

/**
 * The root of a tree of generators. The number 1 and the string '1' are the same seed. Draws of a generator and
 * its forks depend on the seed and the path of labels alone, never on what else was drawn or forked before.
 */
export function createRandom(seed: number | string): Random {
  return new RandomTree(childKey(rootKey, String(seed)))
}
