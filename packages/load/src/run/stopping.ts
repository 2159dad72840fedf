import type { LoadOptions } from '../types.js'

/** The run was stopped before its first measured operation, so there is nothing to report. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'

  constructor() {
    super('interrupted before the first measured operation')
  }
}

export class Stopping {
  /** Resolves when the operations should end. */
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

  /** @throws InterruptedError once the run has been stopped */
  check(): void {
    if (this.isStopped) throw new InterruptedError()
  }

  /**
   * Rejects with an InterruptedError as soon as the run is stopped, without waiting for the work.
   */
  async unlessStopped<Result>(work: Promise<Result>): Promise<Result> {
    const stopped = async (): Promise<never> => {
      await Promise.race([this.stopped, this.#hurried])
      throw new InterruptedError()
    }
    return Promise.race([work, stopped()])
  }

  /** null as soon as the user is in a hurry. */
  unlessHurried<Result>(work: Promise<Result>): Promise<Result | null> {
    return Promise.race([work, this.#hurried.then(() => null)])
  }

  /** Removes the listeners; call after the run. */
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
