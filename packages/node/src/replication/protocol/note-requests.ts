/** Server: read_concern_mongod.cpp, makeNoopWriteIfNeeded; the command appendOplogNote. */
import { RequestFailedError, type CancelSignal } from '@shardlab/actor'
import { compareTimestamps, type OpTime } from '@shardlab/replication'
import type { ProtocolParts } from './protocol-parts.js'
import type { SetWaits } from './set-waits.js'

const attemptsMax = 3
const timeoutMs = 5000

/** Waiting for entries that a quiet primary would write seconds later. */
export class NoteRequests {
  readonly #set: ProtocolParts
  readonly #waits: SetWaits
  /** The time of the newest request that has no reply yet. */
  #requested: OpTime['ts'] = [0, 0]

  constructor(set: ProtocolParts, waits: SetWaits) {
    this.#set = set
    this.#waits = waits
  }

  /**
   * Waits until an entry of that time or a later one is applied.
   * @param patienceMs how long it may be on its way before the primary is asked for one
   * @returns false: the signal aborted
   */
  async awaitApplied(ts: OpTime['ts'], signal: CancelSignal, patienceMs: number): Promise<boolean> {
    const applied = () => (compareTimestamps(this.#set.log.last.optime.ts, ts) >= 0 ? true : null)
    if ((await this.#waits.within(patienceMs, applied, signal)) === true) return true
    if (compareTimestamps(this.#requested, ts) < 0) this.#set.context.detach(this.#request(ts))
    return (await this.#waits.within(null, applied, signal)) === true
  }

  async #request(ts: OpTime['ts']): Promise<void> {
    this.#requested = ts
    const { context, coordinator, log } = this.#set
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const { primary, isPrimary } = coordinator.state
      if (primary === null || isPrimary || compareTimestamps(log.last.optime.ts, ts) >= 0) break
      try {
        const request = { after: [ts[0], ts[1]] as const }
        const reply = await context.request(primary.host, 'replication.append-note', request, {
          pinned: true,
          timeoutMs,
        })
        if (reply.isAppended) break
      } catch (error) {
        if (!(error instanceof RequestFailedError)) throw error
      }
    }
    this.#requested = [0, 0]
  }
}
