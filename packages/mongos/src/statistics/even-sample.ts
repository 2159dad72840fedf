/** Of many items in a row some, at even distances. */
export class EvenSample<Item> {
  readonly #most: number
  #items: Item[] = []
  #every = 1
  #seen = 0

  /** @param most how many are kept; 0: none */
  constructor(most: number) {
    this.#most = most
  }

  /** At least half as many as may be kept, if there were so many. */
  get items(): readonly Item[] {
    return this.#items
  }

  add(item: Item): void {
    if (this.#most === 0 || this.#seen++ % this.#every !== 0) return
    if (this.#items.length === this.#most) {
      this.#items = this.#items.filter((_, i) => i % 2 === 0)
      this.#every *= 2
      if ((this.#seen - 1) % this.#every !== 0) return
    }
    this.#items.push(item)
  }
}

/** At most so many of them, at even distances, the first among them. */
export function evenly<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items
  return Array.from({ length: most }, (_, i) => items[Math.floor((i * items.length) / most)]!)
}
