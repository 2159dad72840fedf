import { createStrikeCount, strikesOf } from '../host/faults/strike-count.js'

/** Strikes of one fault: those on this machine, and those on others, of which it learns. */
export class Tally {
  /** Of both, for the limit of the fault. */
  readonly count = createStrikeCount()
  #others = 0

  constructor(others: number) {
    this.noteOthers(others)
  }

  get own(): number {
    return strikesOf(this.count) - this.#others
  }

  noteOthers(strikes: number): void {
    const more = strikes - this.#others
    if (more <= 0) return
    this.#others = strikes
    Atomics.add(new Int32Array(this.count), 0, more)
  }
}
