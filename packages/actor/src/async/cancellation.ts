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
  /** The first who listens; mostly nobody else does. */
  #first: CancelListener | null = null
  /** Those who came after it. Null: nobody has yet. */
  #others: Set<CancelListener> | null = null

  /** What others may listen to. */
  get signal(): CancelSignal {
    return this
  }

  /** How many listen; what has ended listens no more. */
  get listeners(): number {
    return (this.#first === null ? 0 : 1) + (this.#others?.size ?? 0)
  }

  /** Whoever listens hears of it, once. */
  abort(): void {
    if (this.aborted) return
    this.aborted = true
    // Known until all have heard: who listens again meanwhile hears no second time, and who comes meanwhile is one of the others.
    if (this.#first !== null) tell(this.#first)
    if (this.#others !== null) {
      for (const listener of this.#others) tell(listener)
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

function tell(listener: CancelListener): void {
  if (typeof listener === 'function') listener()
  else listener.handleEvent()
}
