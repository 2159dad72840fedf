export type CancelListener = (() => void) | { handleEvent(): void }

/** A {@link Cancellation} or an `AbortSignal`. */
export interface CancelSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: CancelListener, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: CancelListener): void
}

/**
 * An `AbortController` and its signal in one. The platform's cost more than a message, and warn
 * above ten listeners; the signal of a member's shutdown has more.
 */
export class Cancellation implements CancelSignal {
  aborted = false
  /** Most signals have only this listener. */
  #first: CancelListener | null = null
  #others: Set<CancelListener> | null = null

  get signal(): CancelSignal {
    return this
  }

  get listeners(): number {
    return (this.#first === null ? 0 : 1) + (this.#others?.size ?? 0)
  }

  abort(): void {
    if (this.aborted) return
    this.aborted = true
    // `#first` stays set until all have been called: a listener that adds itself again is not
    // called twice, and one that is added during the calls is called with the others.
    if (this.#first !== null) call(this.#first)
    if (this.#others !== null) {
      for (const listener of this.#others) call(listener)
      this.#others.clear()
    }
    this.#first = null
  }

  addEventListener(_type: 'abort', listener: CancelListener): void {
    if (this.listeners === 0 && !this.aborted) this.#first = listener
    else if (listener !== this.#first) (this.#others ??= new Set()).add(listener)
  }

  removeEventListener(_type: 'abort', listener: CancelListener): void {
    if (listener === this.#first) this.#first = null
    else this.#others?.delete(listener)
  }
}

function call(listener: CancelListener): void {
  if (typeof listener === 'function') listener()
  else listener.handleEvent()
}
