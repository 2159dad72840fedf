/** Who hears of the end: a function, or, as with signals of the platform, an object with a method for it. */
export type CancelListener = (() => void) | { handleEvent(): void }

/** What `ActorContext.sleep` and `ActorContext.request` listen to: a {@link Cancellation}, or a signal of the platform. */
export interface CancelSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: CancelListener, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: CancelListener): void
}

/**
 * An `AbortController` and its signal in one, for everything that members wait for: those of the platform cost more than a message, and warn
 * when more than ten listen at a time, as they do to the end of a member.
 */
export class Cancellation implements CancelSignal {
  aborted = false
  /** Null: nobody has listened yet, as is usual for what is done at once. */
  #listeners: Set<CancelListener> | null = null

  /** What others may listen to. */
  get signal(): CancelSignal {
    return this
  }

  /** How many listen; what has ended listens no more. */
  get listeners(): number {
    return this.#listeners?.size ?? 0
  }

  /** Whoever listens hears of it, once. */
  abort(): void {
    if (this.aborted) return
    this.aborted = true
    if (this.#listeners === null) return
    for (const listener of this.#listeners)
      if (typeof listener === 'function') listener()
      else listener.handleEvent()
    this.#listeners.clear()
  }

  addEventListener(_type: 'abort', listener: CancelListener): void {
    this.#listeners ??= new Set()
    this.#listeners.add(listener)
  }

  removeEventListener(_type: 'abort', listener: CancelListener): void {
    this.#listeners?.delete(listener)
  }
}
