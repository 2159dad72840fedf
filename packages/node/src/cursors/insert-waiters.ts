/**
 * For getMore on awaitData cursors. Server: capped insert notifier of capped_collection.h; manual:
 * core/tailable-cursors.
 */
import { LinkedAbort, RequestFailedError, type ActorContext } from '@shardlab/actor'
import type { RunningOperation } from '@shardlab/member'
import { oplogNs } from '../log/oplog-collection.js'

/** The key of those that wait for entries of the oplog that a majority has. */
export const committedEntries = 'committed entries'

interface Waiting {
  readonly end: LinkedAbort
  readonly isReady: (() => boolean) | undefined
}

export class InsertWaiters {
  readonly #waiting = new Map<string, Set<Waiting>>()

  /**
   * @param key a namespace, or {@link committedEntries}
   * @param isReady decides at each notification whether the wait ends; absent: at the first one
   * @returns whether to read again; false: the time is over, or the member shuts down
   * @throws CommandError with which the operation was killed
   */
  async wait(
    context: ActorContext,
    operation: RunningOperation,
    key: string,
    durationMs: number,
    isReady?: () => boolean,
  ): Promise<boolean> {
    const { signal } = operation
    if (signal.aborted) {
      operation.checkForInterrupt()
      return false
    }
    const end = new LinkedAbort(signal)
    const waiting = this.#waiting.get(key) ?? new Set()
    const waiter = { end, isReady }
    this.#waiting.set(key, waiting.add(waiter))
    try {
      await context.sleep(durationMs, end.signal)
      return false
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      operation.checkForInterrupt()
      return !signal.aborted
    } finally {
      end.unlink()
      waiting.delete(waiter)
      if (waiting.size === 0) this.#waiting.delete(key)
    }
  }

  /** For waiters whose context is revoked: they never end by themselves. */
  clear(): void {
    this.#waiting.clear()
  }

  notify(key: string): void {
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) return
    for (const { end, isReady } of waiting) if (isReady === undefined || isReady()) end.abort()
  }
}

/**
 * Notifies readers of the oplog of entries on the disk.
 * @param set the entries of its only member are those that a majority has
 * @returns a function that ends it
 */
export function notifyOfEntries(
  durable: Set<() => void>,
  waiters: InsertWaiters,
  set: { readonly isAlone: boolean },
): () => void {
  const notify = (): void => {
    waiters.notify(oplogNs)
    if (set.isAlone) waiters.notify(committedEntries)
  }
  durable.add(notify)
  return () => durable.delete(notify)
}
