/** What `ActorContext.sleep` and `ActorContext.request` listen to: a {@link Cancellation}, or a signal of the platform. */
export interface CancelSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/**
 * An `AbortController` and its signal in one, for everything that members wait for: those of the platform cost more than a message, and warn
 * when more than ten listen at a time, as they do to the end of a member.
 */
export class Cancellation implements CancelSignal {
  aborted = false
  readonly #listeners = new Set<() => void>()

  /** What others may listen to. */
  get signal(): CancelSignal {
    return this
  }

  /** How many listen; what has ended listens no more. */
  get listeners(): number {
    return this.#listeners.size
  }

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
