/** Open transactions in currentOp. Server: single_transaction_stats.cpp, transaction_router.cpp. */
import type { DocumentWriter } from '@shardlab/bson'
import type { RunningOperation } from './running-operation.js'

export interface ReportedTransaction {
  /** Of its session. */
  readonly lsid: Uint8Array
  /** Its command that runs. Null: it is inactive. */
  readonly operation: RunningOperation | null
  /** Of its last command; 0: it came from another member. */
  readonly connectionId: number
  /** Appends the fields of `transaction`. */
  write(writer: DocumentWriter): void
}

/** How long a transaction has been open, and for how long of that its commands ran. */
export class ActivityClock {
  readonly startedAtMs: number
  #activeMs = 0
  #activeSinceMs: number | null = null

  constructor(startedAtMs: number) {
    this.startedAtMs = startedAtMs
  }

  begin(nowMs: number): void {
    this.#activeSinceMs ??= nowMs
  }

  end(nowMs: number): void {
    if (this.#activeSinceMs === null) return
    this.#activeMs += nowMs - this.#activeSinceMs
    this.#activeSinceMs = null
  }

  write(writer: DocumentWriter, nowMs: number): void {
    const openMs = nowMs - this.startedAtMs
    const activeMs = this.#activeMs + (this.#activeSinceMs === null ? 0 : nowMs - this.#activeSinceMs)
    writer
      .string('startWallClockTime', isoText(this.startedAtMs))
      .int64('timeOpenMicros', Math.round(openMs * 1000))
      .int64('timeActiveMicros', Math.round(activeMs * 1000))
      .int64('timeInactiveMicros', Math.round((openMs - activeMs) * 1000))
  }
}

export function isoText(atMs: number): string {
  return new Date(atMs).toISOString().replace('Z', '+00:00')
}
