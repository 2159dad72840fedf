const ready = 0
const done = 1
const failed = 2

/** A statement is ready until it is done or has failed for good. */
export class StatementStates {
  readonly #states: Uint8Array
  #settled = 0
  /** No earlier statement is ready. */
  #firstReady = 0

  constructor(count: number) {
    this.#states = new Uint8Array(count)
  }

  get count(): number {
    return this.#states.length
  }

  get settled(): number {
    return this.#settled
  }

  /** {@link count}: no statement is ready. */
  get firstReady(): number {
    while (this.#firstReady < this.#states.length && this.#states[this.#firstReady] !== ready) this.#firstReady++
    return this.#firstReady
  }

  isReady(index: number): boolean {
    return this.#states[index] === ready
  }

  complete(index: number): void {
    this.#settle(index, done)
  }

  fail(index: number): void {
    this.#settle(index, failed)
  }

  #settle(index: number, state: number): void {
    if (this.#states[index] === ready) this.#settled++
    this.#states[index] = state
  }
}
