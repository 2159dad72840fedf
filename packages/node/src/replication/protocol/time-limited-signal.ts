import { Cancellation, RequestFailedError, type ActorContext, type CancelSignal } from '@shardlab/actor'

/** Aborts after a time, or with another signal. */
export class TimeLimitedSignal {
  readonly #cancellation = new Cancellation()
  readonly #alarm = new Cancellation()
  readonly #parent: CancelSignal | undefined
  readonly #abort = (): void => this.#cancellation.abort()

  constructor(context: ActorContext, durationMs: number, parent?: CancelSignal) {
    this.#parent = parent
    if (parent?.aborted === true) this.#abort()
    else parent?.addEventListener('abort', this.#abort)
    context.detach(
      context.sleep(durationMs, this.#alarm).then(this.#abort, (error: unknown) => {
        if (!(error instanceof RequestFailedError)) throw error
      }),
    )
  }

  get signal(): CancelSignal {
    return this.#cancellation
  }

  /** The wait is over. */
  end(): void {
    this.#alarm.abort()
    this.#parent?.removeEventListener('abort', this.#abort)
  }
}
