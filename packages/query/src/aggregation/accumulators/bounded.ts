import { CommandError } from '@shardlab/bson'

export class Bounded<Entry> {
  /** Ascending; equal entries are in the order in which they were added. */
  readonly entries: Entry[] = []
  readonly #compare: (a: Entry, b: Entry) => number
  readonly #drops: 'least' | 'greatest'
  #n: number

  /**
   * @param drops the end from which an entry is dropped once there are n; a new entry equal to
   *   that end is dropped itself
   */
  constructor(n: number, compare: (a: Entry, b: Entry) => number, drops: 'least' | 'greatest') {
    this.#n = n
    this.#compare = compare
    this.#drops = drops
  }

  get n(): number {
    return this.#n
  }

  set n(n: number) {
    if (this.entries.length > n)
      throw new CommandError('InternalError', 'the capacity cannot shrink below the number of entries')
    this.#n = n
  }

  /** @returns the dropped entry, which may be the new one; null: nothing was dropped */
  add(entry: Entry): Entry | null {
    const { entries } = this
    let dropped: Entry | null = null
    if (entries.length === this.#n) {
      const isBetter =
        this.#drops === 'greatest' ? this.#compare(entries.at(-1)!, entry) > 0 : this.#compare(entry, entries[0]!) > 0
      if (!isBetter) return entry
      dropped = (this.#drops === 'greatest' ? entries.pop() : entries.shift()) ?? entry
    }
    let low = 0
    let high = entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#compare(entries[middle]!, entry) <= 0) low = middle + 1
      else high = middle
    }
    entries.splice(low, 0, entry)
    return dropped
  }
}
