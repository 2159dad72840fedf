/** Bounds of the final contents, derived from the replies that clients got, by document. */

/** How many copies of one document may exist, and bounds of its counter `n`. */
interface Entry {
  presence: 'yes' | 'no' | 'maybe'
  least: number
  most: number
}

/** Contents found for one document; a `count` above one is a duplicate. */
export interface Found {
  readonly count: number
  readonly n: number
}

export class Ledger {
  readonly #entries = new Map<number, Entry>()

  /** Keys of documents that certainly exist. */
  present(): number[] {
    return [...this.#entries].filter(([, { presence }]) => presence === 'yes').map(([key]) => key)
  }

  /** Records an insert with n: 0 that was acknowledged, or that may have happened. */
  inserted(key: number, certain: boolean): void {
    this.#entries.set(key, { presence: certain ? 'yes' : 'maybe', least: 0, most: 0 })
  }

  /** Records an increment of an existing document. */
  incremented(key: number, by: number, certain: boolean): void {
    const entry = this.#entries.get(key)!
    entry.most += by
    if (certain) entry.least += by
  }

  /** Records a delete of an existing document. */
  deleted(key: number, certain: boolean): void {
    this.#entries.get(key)!.presence = certain ? 'no' : 'maybe'
  }

  /** Violations in the contents, one sentence each. */
  violations(name: string, contents: ReadonlyMap<number, Found>): string[] {
    const wrong: string[] = []
    for (const key of contents.keys()) if (!this.#entries.has(key)) wrong.push(`${name} ${key} was never written`)
    for (const [key, { presence, least, most }] of this.#entries) {
      const found = contents.get(key)
      if (found === undefined) {
        if (presence === 'yes') wrong.push(`${name} ${key} was acknowledged and is gone`)
        continue
      }
      if (presence === 'no') wrong.push(`${name} ${key} was deleted and is there`)
      if (found.count !== 1) wrong.push(`${name} ${key} is there ${found.count} times`)
      if (found.n < least || found.n > most)
        wrong.push(`${name} ${key} was incremented to ${found.n}, not to ${least}–${most}`)
    }
    return wrong
  }
}
