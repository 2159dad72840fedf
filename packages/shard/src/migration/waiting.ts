import { Cancellation, createDeferred, RequestFailedError, type ActorContext } from '@shardlab/actor'

/** Something that happens again and again, and that others wait for. */
export class Happening {
  readonly #context: ActorContext
  /** What ends the sleep of all who wait for the next time; null: nobody does. */
  #waiting: Cancellation | null = null

  constructor(context: ActorContext) {
    this.#context = context
  }

  /** Now: whoever waits goes on. */
  notify(): void {
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.abort()
  }

  /** Resolves when it happens, or after `timeoutMs`. */
  next(timeoutMs: number): Promise<void> {
    this.#waiting ??= new Cancellation()
    return this.#context.sleep(timeoutMs, this.#waiting).catch(cutShort)
  }
}

function cutShort(error: unknown): void {
  if (!(error instanceof RequestFailedError)) throw error
}

/** Resolves with what the work gives, or with undefined after `timeoutMs`; the work goes on. */
export async function within<T>(context: ActorContext, work: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  const result = createDeferred<T | undefined>()
  const timer = new Cancellation()
  work.then(
    (value) => result.resolve(value),
    (error: unknown) => result.reject(error),
  )
  context.sleep(timeoutMs, timer).then(
    () => result.resolve(undefined),
    () => {},
  )
  try {
    return await result.promise
  } finally {
    timer.abort()
  }
}
