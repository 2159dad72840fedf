/** Pull cursor over a half-open range of one index. */
import type { KeyTree } from './tree.js'

export class IndexCursor {
  readonly #entries: IterableIterator<[string, number]>
  readonly #from: string | undefined
  readonly #to: string | undefined
  readonly #reverse: boolean
  #done = false
  /** The key last pulled; a non-unique index appends the record id. */
  key = ''

  /** Keys from `from` on and below `to`; absent bounds are open. */
  constructor(tree: KeyTree, from: string | undefined, to: string | undefined, reverse: boolean) {
    const reused: [string, number] = ['', 0]
    this.#from = from
    this.#to = to
    this.#reverse = reverse
    this.#entries = reverse ? tree.entriesReversed(to, reused, true) : tree.entries(from, reused)
  }

  /** The next record id, or -1 at the end. Ids repeat when an index is multikey. */
  next(): number {
    if (this.#done) return -1
    const step = this.#entries.next()
    if (step.done !== true) {
      const key = step.value[0]
      if (this.#reverse ? this.#from === undefined || key >= this.#from : this.#to === undefined || key < this.#to) {
        this.key = key
        return step.value[1]
      }
    }
    this.#done = true
    return -1
  }

  *[Symbol.iterator](): Generator<number, void, void> {
    for (let recordId = this.next(); recordId >= 0; recordId = this.next()) yield recordId
  }
}
