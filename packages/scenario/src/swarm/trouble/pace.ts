import { createDeferred } from '@shardlab/actor'

/**
 * Most of a run is waiting, so what goes wrong does when somebody sends a command; and it ends when
 * nobody is at work any more.
 */
export class Pace {
  #atWork = 0
  #nextSend = createDeferred<void>()

  get isAnybodyAtWork(): boolean {
    return this.#atWork > 0
  }

  /** Resolves with the next command that leaves, and when nobody is at work any more. */
  nextSend(): Promise<void> {
    return this.isAnybodyAtWork ? this.#nextSend.promise : Promise.resolve()
  }

  /** A command of a client left. */
  sent(): void {
    const { resolve } = this.#nextSend
    if (this.isAnybodyAtWork) this.#nextSend = createDeferred()
    resolve()
  }

  /** Counts as being at work until it has settled. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#atWork++
    try {
      return await work()
    } finally {
      this.#atWork--
      if (!this.isAnybodyAtWork) this.sent()
    }
  }
}
