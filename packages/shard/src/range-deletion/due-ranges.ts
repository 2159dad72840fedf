/** Ranges that will be deleted, by when they are due: the next one is known without a look at all that wait. */

/** A range that will be deleted. */
export interface ScheduledDeletion {
  /** Hexadecimal digits: bytes would be a view of the task's document, and keep the memory around it. */
  readonly id: string
  /** Not before. */
  readonly dueAtMs: number
  /** Cursors that have to be gone before. */
  readonly cursors: readonly bigint[]
  /** How long after the end of the last of them. */
  readonly delayMs: number
}

interface Entry extends ScheduledDeletion {
  /** Of two that are due at one time the one that was scheduled first comes first. */
  readonly order: number
}

export class DueRanges {
  readonly #byId = new Map<string, Entry>()
  /** Those that no cursor keeps, in the order in which they are due. What was scheduled last is mostly due last. */
  readonly #queue: Entry[] = []
  /** Those that cursors keep. */
  readonly #waitingForCursors = new Set<Entry>()
  #scheduled = 0

  /** In the order in which they were scheduled. */
  all(): IterableIterator<ScheduledDeletion> {
    return this.#byId.values()
  }

  get(id: string): ScheduledDeletion | undefined {
    return this.#byId.get(id)
  }

  /** Instead of what was known of this range; it keeps its place among those that are due at one time. */
  put({ id, dueAtMs, cursors, delayMs }: ScheduledDeletion): void {
    const known = this.#byId.get(id)
    if (known !== undefined) this.#take(known)
    const entry: Entry = { id, dueAtMs, cursors, delayMs, order: known?.order ?? ++this.#scheduled }
    this.#byId.set(id, entry)
    if (cursors.length > 0) this.#waitingForCursors.add(entry)
    else this.#queue.splice(this.#positionOf(entry), 0, entry)
  }

  /** No error when it is not there. */
  delete(id: string): void {
    const known = this.#byId.get(id)
    if (known === undefined) return
    this.#byId.delete(id)
    this.#take(known)
  }

  /** The first one that no cursor keeps; undefined: there is none. */
  next(): ScheduledDeletion | undefined {
    return this.#queue[0]
  }

  /** Those that cursors keep. */
  waitingForCursors(): ReadonlySet<ScheduledDeletion> {
    return this.#waitingForCursors
  }

  #take(entry: Entry): void {
    if (!this.#waitingForCursors.delete(entry)) this.#queue.splice(this.#positionOf(entry), 1)
  }

  /** How many are due before it. */
  #positionOf({ dueAtMs, order }: Entry): number {
    let [low, high] = [0, this.#queue.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#queue[middle]!
      if (other.dueAtMs < dueAtMs || (other.dueAtMs === dueAtMs && other.order < order)) low = middle + 1
      else high = middle
    }
    return low
  }
}
