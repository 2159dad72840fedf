import { Cancellation, createDeferred, type ActorContext } from '@shardlab/actor'

/** undefined: `timeoutMs` has passed; the work continues. */
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
