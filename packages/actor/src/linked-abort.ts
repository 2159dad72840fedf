/** Ends what waits for its signal, by itself or together with another one. */
export class LinkedAbort {
  readonly #controller = new AbortController()
  readonly #parent: AbortSignal
  readonly abort = (): void => this.#controller.abort()

  constructor(parent: AbortSignal) {
    this.#parent = parent
    if (parent.aborted) this.abort()
    else parent.addEventListener('abort', this.abort)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The other one forgets it. */
  unlink(): void {
    this.#parent.removeEventListener('abort', this.abort)
  }
}
