import { Cancellation, RequestFailedError, type ActorContext } from '@shardlab/actor'

/** A recurring condition that several callers wait for. */
export class Signal {
  readonly #context: ActorContext
  /** Ends the sleep of all current waiters; null: no waiters. */
  #waiting: Cancellation | null = null

  constructor(context: ActorContext) {
    this.#context = context
  }

  notify(): void {
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.abort()
  }

  /** Resolves at the next {@link notify}, or after `timeoutMs`. */
  next(timeoutMs: number): Promise<void> {
    this.#waiting ??= new Cancellation()
    return this.#context.sleep(timeoutMs, this.#waiting).catch(ignoreCancelled)
  }
}

function ignoreCancelled(error: unknown): void {
  if (!(error instanceof RequestFailedError)) throw error
}
