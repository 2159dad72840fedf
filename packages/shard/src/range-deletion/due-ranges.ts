export interface ScheduledDeletion {
  /** In hex: a byte array would be a view that keeps the memory of the task's document. */
  readonly id: string
  readonly dueAtMs: number
  /** These have to end first. */
  readonly cursors: readonly bigint[]
  /** Delay after the end of the last cursor. */
  readonly delayMs: number
}

interface Entry extends ScheduledDeletion {
  /** Order among equal due times: first scheduled, first due. */
  readonly order: number
}

/** Range deletions by due time: the next one is found without a scan. */
export class DueRanges {
  readonly #byId = new Map<string, Entry>()
  /** Deletions that wait for no cursor, by due time. A new one is mostly due last. */
  readonly #queue: Entry[] = []
  readonly #waitingForCursors = new Set<Entry>()
  #scheduled = 0

  /** In the order in which they were scheduled. */
  all(): IterableIterator<ScheduledDeletion> {
    return this.#byId.values()
  }

  get(id: string): ScheduledDeletion | undefined {
    return this.#byId.get(id)
  }

  /** Adds or replaces; a replaced deletion keeps its order among equal due times. */
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

  /** The first that waits for no cursor. */
  next(): ScheduledDeletion | undefined {
    return this.#queue[0]
  }

  waitingForCursors(): ReadonlySet<ScheduledDeletion> {
    return this.#waitingForCursors
  }

  #take(entry: Entry): void {
    if (!this.#waitingForCursors.delete(entry)) this.#queue.splice(this.#positionOf(entry), 1)
  }

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
