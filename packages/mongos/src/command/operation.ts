import { compareTimestamps, type TimestampPair } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'

/** One command of one client while it runs. */
export class Operation {
  readonly id: number
  readonly command: string
  readonly startedAtMs: number
  /** When maxTimeMS is over, on the member's clock; null: never. */
  readonly deadlineMs: number | null
  #operationTime: TimestampPair = [0, 0]

  constructor(id: number, command: string, startedAtMs: number, maxTimeMs: number) {
    this.id = id
    this.command = command
    this.startedAtMs = startedAtMs
    this.deadlineMs = maxTimeMs > 0 ? startedAtMs + maxTimeMs : null
  }

  /** Newest operation time of the members that took part; `[0, 0]` when none did. */
  get operationTime(): TimestampPair {
    return this.#operationTime
  }

  observe(operationTime: TimestampPair): void {
    if (compareTimestamps(operationTime, this.#operationTime) > 0) this.#operationTime = operationTime
  }

  /** Milliseconds left, at least 1; undefined without a limit. @throws CommandError 50 MaxTimeMSExpired */
  remainingMs(nowMs: number): number | undefined {
    if (this.deadlineMs === null) return undefined
    if (nowMs >= this.deadlineMs) throw maxTimeExpired()
    return this.deadlineMs - nowMs
  }
}

export function maxTimeExpired(): CommandError {
  return new CommandError('MaxTimeMSExpired', 'operation exceeded time limit')
}
