/** Items of a run, which is sorted at once. */
const runLength = 1024

interface Run<T> {
  /** Those that were read are undefined: a cursor keeps the others for minutes. */
  readonly items: (T | undefined)[]
  /** Order of the input, for equal items. */
  readonly order: number
  at: number
}

/**
 * A stable sort without a long step: runs of the input are sorted as they fill up and merged as
 * they are read.
 */
export class RunSorter<T> {
  readonly #compare: (a: T, b: T) => number
  #open: T[] = []
  /** Once reading has begun, a heap whose top has the next item. */
  readonly #runs: Run<T>[] = []
  #reading = false

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  add(item: T): void {
    this.#open.push(item)
    if (this.#open.length === runLength) this.#closeRun()
  }

  /** Call it only after the last {@link add}. Undefined: the end. */
  next(): T | undefined {
    if (!this.#reading) this.#startReading()
    const run = this.#runs[0]
    if (run === undefined) return undefined
    const item = run.items[run.at]
    run.items[run.at++] = undefined
    if (run.at === run.items.length) {
      const last = this.#runs.pop()!
      if (last === run) return item
      this.#runs[0] = last
    }
    this.#siftDown(0)
    return item
  }

  #closeRun(): void {
    this.#runs.push({ items: this.#open.sort(this.#compare), order: this.#runs.length, at: 0 })
    this.#open = []
  }

  #startReading(): void {
    this.#reading = true
    if (this.#open.length > 0) this.#closeRun()
    for (let i = (this.#runs.length >> 1) - 1; i >= 0; i--) this.#siftDown(i)
  }

  #siftDown(from: number): void {
    const runs = this.#runs
    const run = runs[from]!
    let at = from
    for (;;) {
      let child = 2 * at + 1
      if (child >= runs.length) break
      if (child + 1 < runs.length && this.#isBefore(runs[child + 1]!, runs[child]!)) child++
      if (!this.#isBefore(runs[child]!, run)) break
      runs[at] = runs[child]!
      at = child
    }
    runs[at] = run
  }

  #isBefore(a: Run<T>, b: Run<T>): boolean {
    const order = this.#compare(a.items[a.at]!, b.items[b.at]!)
    return order < 0 || (order === 0 && a.order < b.order)
  }
}
