import { Cancellation, type CancelSignal } from './cancellation.js'

/** Ends what waits for its signal, by itself or together with another one. */
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

  /** The other one forgets it. */
  unlink(): void {
    this.#parent.removeEventListener('abort', this.abort)
  }
}
