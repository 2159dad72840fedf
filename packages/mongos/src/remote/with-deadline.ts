import { Cancellation, createDeferred, type ActorContext } from '@shardlab/actor'
import { maxTimeExpired } from '@shardlab/member'
import type { Operation } from '../dispatch/operation.js'

/** @throws CommandError 50 MaxTimeMSExpired, 11601 Interrupted; the shared work continues */
export function withDeadline<T>(context: ActorContext, operation: Operation | null, shared: Promise<T>): Promise<T> {
  if (operation === null) return shared
  if (operation.deadlineMs === null) return operation.interruptible(shared)
  let remainingMs: number
  try {
    remainingMs = operation.remainingMs(context.now())!
  } catch (error) {
    // Its failure concerns other callers.
    shared.catch(() => {})
    return Promise.reject(error)
  }
  const waiting = createDeferred<T>()
  const timer = new Cancellation()
  context.sleep(remainingMs, timer.signal).then(
    () => waiting.reject(maxTimeExpired()),
    () => {},
  )
  operation
    .interruptible(shared)
    .then(waiting.resolve, waiting.reject)
    .finally(() => timer.abort())
  return waiting.promise
}
