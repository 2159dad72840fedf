/** What `ActorContext.sleep` listens to: an `AbortSignal`, or a {@link Cancellation}. */
export interface CancelSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** An `AbortController` and its signal for what happens thousands of times a second: those of the platform cost more than a message. */
export class Cancellation implements CancelSignal {
  aborted = false
  readonly #listeners = new Set<() => void>()

  /** Whoever listens hears of it, once. */
  abort(): void {
    if (this.aborted) return
    this.aborted = true
    for (const listener of this.#listeners) listener()
    this.#listeners.clear()
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener)
  }
}
