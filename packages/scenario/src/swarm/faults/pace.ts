import { createDeferred } from '@shardlab/actor'

/** Times faults to moments when commands are in progress, because most of a run is waiting. */
export class Pace {
  #atWork = 0
  #nextSend = createDeferred<void>()

  get isAnyClientWorking(): boolean {
    return this.#atWork > 0
  }

  /** Also resolves when all clients are done. */
  nextSend(): Promise<void> {
    return this.isAnyClientWorking ? this.#nextSend.promise : Promise.resolve()
  }

  sent(): void {
    const { resolve } = this.#nextSend
    if (this.isAnyClientWorking) this.#nextSend = createDeferred()
    resolve()
  }

  /** Counts as a working client until it settles. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#atWork++
    try {
      return await work()
    } finally {
      this.#atWork--
      if (!this.isAnyClientWorking) this.sent()
    }
  }
}
