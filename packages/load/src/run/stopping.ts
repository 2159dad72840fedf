/** How a run is ended before its time. */
import type { LoadOptions } from '../types.js'

/** A run was stopped before its first measured operation: there is nothing to report. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'

  constructor() {
    super('interrupted before the first measured operation')
  }
}

/** The two signals of the options, for as long as a run lasts. */
export class Stopping {
  /** Resolves when the operations are to end. */
  readonly stopped: Promise<void>
  readonly #hurried: Promise<void>
  readonly #stop: AbortSignal | undefined
  readonly #hurry: AbortSignal | undefined
  readonly #forget: (() => void)[] = []

  constructor({ stop, hurry }: Pick<LoadOptions, 'stop' | 'hurry'>) {
    this.#stop = stop
    this.#hurry = hurry
    this.stopped = this.#abortionOf(stop)
    this.#hurried = this.#abortionOf(hurry)
  }

  get isStopped(): boolean {
    return this.#stop?.aborted === true || this.isHurried
  }

  get isHurried(): boolean {
    return this.#hurry?.aborted === true
  }

  /** Throws an InterruptedError once the run has been stopped. */
  check(): void {
    if (this.isStopped) throw new InterruptedError()
  }

  /** What the work comes to; rejects with an InterruptedError as soon as the run is stopped, and nobody waits for the work. */
  async unlessStopped<Result>(work: Promise<Result>): Promise<Result> {
    const stopped = async (): Promise<never> => {
      await Promise.race([this.stopped, this.#hurried])
      throw new InterruptedError()
    }
    return Promise.race([work, stopped()])
  }

  /** What the work comes to; null as soon as there is to be no more waiting. */
  unlessHurried<Result>(work: Promise<Result>): Promise<Result | null> {
    return Promise.race([work, this.#hurried.then(() => null)])
  }

  /** After the run: listens no longer. */
  end(): void {
    for (const forget of this.#forget) forget()
  }

  #abortionOf(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (signal === undefined) return
      if (signal.aborted) return resolve()
      const listener = (): void => resolve()
      signal.addEventListener('abort', listener)
      this.#forget.push(() => signal.removeEventListener('abort', listener))
    })
  }
}
