/**
 * For getMore on awaitData cursors. Server: capped insert notifier of capped_collection.h; manual:
 * core/tailable-cursors.
 */
import { LinkedAbort, RequestFailedError, type ActorContext } from '@shardlab/actor'
import type { RunningOperation } from '@shardlab/member'

export class InsertWaiters {
  readonly #waiting = new Map<string, Set<LinkedAbort>>()

  /**
   * @returns whether to read again; false: the time is over, or the member shuts down
   * @throws CommandError with which the operation was killed
   */
  async wait(context: ActorContext, operation: RunningOperation, ns: string, durationMs: number): Promise<boolean> {
    const { signal } = operation
    if (signal.aborted) {
      operation.checkForInterrupt()
      return false
    }
    const end = new LinkedAbort(signal)
    const waiting = this.#waiting.get(ns) ?? new Set()
    this.#waiting.set(ns, waiting.add(end))
    try {
      await context.sleep(durationMs, end.signal)
      return false
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      operation.checkForInterrupt()
      return !signal.aborted
    } finally {
      end.unlink()
      waiting.delete(end)
      if (waiting.size === 0) this.#waiting.delete(ns)
    }
  }

  notify(ns: string): void {
    const waiting = this.#waiting.get(ns)
    if (waiting !== undefined) for (const end of waiting) end.abort()
  }
}
