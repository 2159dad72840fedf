import type { ReachedStep } from '@shardlab/runtime'
import { OptionError } from '../option-error.js'

/** The first strike of a fault at a step, for callers that wait for it. */
export class FirstStrike {
  readonly promise: Promise<ReachedStep>
  #resolve!: (reached: ReachedStep) => void
  #reject!: (error: OptionError) => void

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Without a caller that waits, a fault that never strikes is no failure.
    this.promise.catch(() => {})
  }

  /** Further strikes have no effect. */
  note(reached: ReachedStep): void {
    this.#resolve(reached)
  }

  /** @param fault as text */
  end(fault: string): void {
    this.#reject(new OptionError(`no member reached the step before the fault '${fault}' was healed.`))
  }
}
