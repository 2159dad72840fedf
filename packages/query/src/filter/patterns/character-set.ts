/** The characters that one piece of a pattern matches: JavaScript's expression for it decides. */

export interface CharacterSet {
  has(codePoint: number): boolean
}

const tableSize = 256

class TabledSet implements CharacterSet {
  readonly #expression: RegExp
  /** 0: not decided yet, 1: in the set, 2: not in it. */
  readonly #table = new Uint8Array(tableSize)

  constructor(text: string, flags: string) {
    this.#expression = new RegExp(`^${text}$`, flags)
  }

  has(codePoint: number): boolean {
    if (codePoint >= tableSize) return this.#expression.test(String.fromCodePoint(codePoint))
    const known = this.#table[codePoint]!
    if (known !== 0) return known === 1
    const isIn = this.#expression.test(String.fromCodePoint(codePoint))
    this.#table[codePoint] = isIn ? 1 : 2
    return isIn
  }
}

const cache = new Map<string, CharacterSet>()
const maxCached = 1000

/** @param text a character, an escape or a class */
export function characterSet(text: string, flags: string): CharacterSet {
  const key = `${flags}/${text}`
  let set = cache.get(key)
  if (set === undefined) {
    set = new TabledSet(text, flags)
    if (cache.size >= maxCached) cache.clear()
    cache.set(key, set)
  }
  return set
}
