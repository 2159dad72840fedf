import { Cancellation, type CancelSignal } from './cancellation.js'

/** A cancellation that also aborts when its parent does. */
export class LinkedAbort {
  readonly #cancellation = new Cancellation()
  readonly #parent: CancelSignal
  readonly abort = (): void => this.#cancellation.abort()

  constructor(parent: CancelSignal) {
    this.#parent = parent
    if (parent.aborted) this.abort()
    else parent.addEventListener('abort', this.abort)
  }

  get signal(): CancelSignal {
    return this.#cancellation
  }

  unlink(): void {
    this.#parent.removeEventListener('abort', this.abort)
  }
}
