import { compareTimestamps, type TimestampPair } from '@shardlab/actor'
import type { Snapshot } from './transaction.js'
import { hasReceivedRange } from './transaction-errors.js'

/** When collections have last received a range from another shard. */
export class RangeArrivals {
  readonly #times = new Map<string, TimestampPair>()

  note(ns: string, time: TimestampPair): void {
    this.#times.set(ns, time)
  }

  clear(): void {
    this.#times.clear()
  }

  /** @throws CommandError 272 MigrationConflict */
  check(ns: string, { time, isCommon }: Snapshot): void {
    // Owners of the past answer those, by the history of the chunks.
    if (isCommon) return
    const arrival = this.#times.get(ns)
    if (arrival !== undefined && compareTimestamps(arrival, time) > 0) throw hasReceivedRange(ns, arrival, time)
  }
}
