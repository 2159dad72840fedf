import { createDeferred, type CancelSignal, type Deferred } from '@shardlab/actor'

interface Waiter<T> {
  readonly decide: () => T | null
  readonly deferred: Deferred<T | null>
}

/** Promises that resolve once a decision about the state of the protocol is made. */
export class Waiters {
  #waiting: Waiter<unknown>[] = []

  /**
   * @param decide called now and after every change; null: not yet
   * @param signal its abort resolves with null
   */
  wait<T>(decide: () => T | null, signal?: CancelSignal): Promise<T | null> | T {
    const now = decide()
    if (now !== null) return now
    const waiter = { decide, deferred: createDeferred<T | null>() }
    this.#waiting.push(waiter as Waiter<unknown>)
    signal?.addEventListener('abort', () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiter)
      waiter.deferred.resolve(null)
    })
    return waiter.deferred.promise
  }

  get areWaiting(): boolean {
    return this.#waiting.length > 0
  }

  /** After a change. */
  check(): void {
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    const undecided = waiting.filter((waiter) => {
      const decision = waiter.decide()
      if (decision !== null) waiter.deferred.resolve(decision)
      return decision === null
    })
    // A decision may add waiters. They come after those that waited before.
    this.#waiting = [...undecided, ...this.#waiting]
  }
}
