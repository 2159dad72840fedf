import { Cancellation, createDeferred, RequestFailedError, type ActorContext } from '@shardlab/actor'

/** Something that happens again and again, and that others wait for. */
export class Happening {
  readonly #waiting = new Set<Cancellation>()
  readonly #context: ActorContext

  constructor(context: ActorContext) {
    this.#context = context
  }

  /** Now: whoever waits goes on. */
  notify(): void {
    for (const each of this.#waiting) each.abort()
    this.#waiting.clear()
  }

  /** Resolves when it happens, or after `timeoutMs`. */
  async next(timeoutMs: number): Promise<void> {
    const waiting = new Cancellation()
    this.#waiting.add(waiting)
    try {
      await this.#context.sleep(timeoutMs, waiting)
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
    } finally {
      this.#waiting.delete(waiting)
    }
  }
}

/** Resolves with what the work gives, or with undefined after `timeoutMs`; the work goes on. */
export async function within<T>(context: ActorContext, work: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  const result = createDeferred<T | undefined>()
  const timer = new Cancellation()
  void work.then(
    (value) => result.resolve(value),
    (error: unknown) => result.reject(error),
  )
  void context.sleep(timeoutMs, timer).then(
    () => result.resolve(undefined),
    () => {},
  )
  try {
    return await result.promise
  } finally {
    timer.abort()
  }
}
