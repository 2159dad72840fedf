import { compareTimestamps, type Address, type TimestampPair } from '@shardlab/actor'
import type { NotedTarget } from '../statistics/routed-target.js'
import type { RouterTransaction } from '../transactions/router-transaction.js'
import { maxTimeExpired, RunningOperation, type OperationRequest } from '@shardlab/member'

export class Operation extends RunningOperation {
  /** That have replied; null: not noted. */
  members: Set<Address> | null = null
  /** One for each collection. Null: it has gone nowhere yet, or has no watcher. */
  routed: NotedTarget[] | null = null
  /** Replies of shards that refused it, because the routing of the router was stale. */
  staleReplies = 0
  /** Null: none. */
  transaction: RouterTransaction | null = null
  #deadlineMs: number | null = null
  #operationTime: TimestampPair = [0, 0]

  constructor(id: number, request: OperationRequest, maxTimeMs = 0) {
    super(id, request)
    this.limit(maxTimeMs)
  }

  /** On the member's clock; null: no limit. */
  get deadlineMs(): number | null {
    return this.#deadlineMs
  }

  /** @param maxTimeMs 0: no limit */
  limit(maxTimeMs: number): void {
    this.#deadlineMs = maxTimeMs > 0 ? this.startedAtMs + maxTimeMs : null
  }

  /** `[0, 0]`: no member of this operation has replied. */
  get operationTime(): TimestampPair {
    return this.#operationTime
  }

  observe(operationTime: TimestampPair): void {
    if (compareTimestamps(operationTime, this.#operationTime) > 0) this.#operationTime = operationTime
  }

  /**
   * At least 1; undefined: no limit.
   * @throws CommandError 50 MaxTimeMSExpired
   */
  remainingMs(nowMs: number): number | undefined {
    if (this.#deadlineMs === null) return undefined
    if (nowMs >= this.#deadlineMs) throw maxTimeExpired()
    return this.#deadlineMs - nowMs
  }
}
