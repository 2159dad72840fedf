/**
 * Finds members that are far behind their primary. A server has no such event; monitoring compares
 * the optimes of replSetGetStatus.
 */
import type { ReplicationLagEvent } from '@shardlab/actor'
import { compareOpTimes, isNullOpTime, type OpTime, type ReplicationCoordinator } from '@shardlab/replication'

/** Server: flowControlTargetLagSeconds. Added to the configured delay of a member. */
const lagMsMax = 10_000

export type Lag = Pick<ReplicationLagEvent, 'state' | 'lagMs' | 'commitLagMs'> & { readonly host: string }

const noChanges: readonly Lag[] = []

type ProtocolState = ReplicationCoordinator['state']

export class LagWatch {
  readonly #coordinator: ReplicationCoordinator
  /** Hosts that are behind. */
  readonly #behind = new Set<string>()
  /** By host: an entry that it does not have, and when that was first seen. */
  readonly #missing = new Map<string, { readonly optime: OpTime; readonly sinceMs: number }>()

  constructor(coordinator: ReplicationCoordinator) {
    this.#coordinator = coordinator
  }

  /** Members that have fallen behind or have caught up since the last call; only on a primary. */
  check(nowMs: number): readonly Lag[] {
    const { state, committed } = this.#coordinator
    if (!state.isPrimary) {
      this.#behind.clear()
      this.#missing.clear()
      return noChanges
    }
    if (this.#nothingMissing(state)) return noChanges
    const changes: Lag[] = []
    const newestMs = state.self.applied.wallMs
    for (const view of state.peers) {
      const { arbiterOnly, delaySecs } = state.configOf(view)
      if (arbiterOnly || isNullOpTime(view.applied.optime)) continue
      const lagMs = Math.max(0, newestMs - view.applied.wallMs)
      const isLate = this.#missesEntryFor(view.host, view.applied.optime, nowMs) > lagMsMax + delaySecs * 1000
      const isBehind = lagMs > lagMsMax + delaySecs * 1000 && (isLate || this.#behind.has(view.host))
      if (isBehind === this.#behind.has(view.host)) continue
      if (isBehind) this.#behind.add(view.host)
      else this.#behind.delete(view.host)
      const commitLagMs = Math.max(0, newestMs - committed.wallMs)
      changes.push({ host: view.host, state: isBehind ? 'behind' : 'caught-up', lagMs, commitLagMs })
    }
    return changes
  }

  /** All members have all entries, as they had at the last check. */
  #nothingMissing({ peers, self }: ProtocolState): boolean {
    if (this.#behind.size > 0 || this.#missing.size > 0) return false
    return peers.every(({ applied }) => compareOpTimes(applied.optime, self.applied.optime) >= 0)
  }

  /**
   * How long a member has not had an entry of the primary. After an idle time, every member is far
   * behind the first entry for a moment.
   */
  #missesEntryFor(host: string, applied: OpTime, nowMs: number): number {
    const newest = this.#coordinator.state.self.applied.optime
    const missing = this.#missing.get(host)
    if (missing !== undefined && compareOpTimes(applied, missing.optime) < 0) return nowMs - missing.sinceMs
    if (compareOpTimes(applied, newest) < 0) this.#missing.set(host, { optime: newest, sinceMs: nowMs })
    else this.#missing.delete(host)
    return 0
  }
}
