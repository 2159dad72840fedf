/**
 * Removes the entries that the sync source does not have. Server: rollback_impl.cpp (recover to a
 * stable timestamp).
 */
import { RequestFailedError } from '@shardlab/actor'
import { commonPoint, compareOpTimes, isNullOpTime, type OpTime } from '@shardlab/replication'
import { opTimeFields, opTimeOf } from './message-fields.js'
import { persist } from './persist.js'
import type { ProtocolParts } from './protocol-parts.js'

const positionsPerRequest = 500

export class Rollback {
  readonly #set: ProtocolParts
  /** No source had a common entry since the last rollback. */
  #isReported = false

  constructor(set: ProtocolParts) {
    this.#set = set
  }

  async run(source: string): Promise<void> {
    const { coordinator } = this.#set
    coordinator.setFollowerMode(this.#set.nowMs, 'ROLLBACK')
    this.#set.carryOut()
    const common = await this.#commonPoint(source)
    const mayRollBack = !coordinator.state.isPrimary && !this.#set.context.mutated('rollbackOff')
    if (common !== null && common !== 'unanswered' && mayRollBack) await this.#rollBackTo(common)
    else {
      coordinator.denySyncSource(this.#set.nowMs, source, this.#set.nowMs + denyMs)
      coordinator.state.syncSource = null
      if (common === null) this.#report(source)
    }
    // Without data it needs an initial sync, and must not serve reads before.
    const isEmpty = isNullOpTime(this.#set.log.last.optime)
    if (!coordinator.state.isPrimary) coordinator.setFollowerMode(this.#set.nowMs, isEmpty ? 'STARTUP2' : 'SECONDARY')
    this.#set.carryOut()
  }

  async #rollBackTo(common: OpTime): Promise<void> {
    const { context, coordinator, hooks, log } = this.#set
    if (compareOpTimes(common, coordinator.committed.optime) < 0)
      throw new Error('a rollback would remove entries that a majority has acknowledged')
    const namespaces = await persist(context, () => log.saveRolledBack(common))
    const entries = log.rollBackTo(common)
    await persist(context, () => log.rewriteDisk())
    this.#set.rollbackId++
    this.#isReported = false
    coordinator.rolledBackTo(this.#set.nowMs, log.last)
    hooks.rolledBack(common, entries, namespaces)
  }

  /** Server: it logs that the rollback failed, and tries again. */
  #report(source: string): void {
    if (this.#isReported) return
    this.#isReported = true
    this.#set.hooks.rollbackFailed(source)
  }

  /** @returns null: the oplogs have no entry in common */
  async #commonPoint(source: string): Promise<OpTime | 'unanswered' | null> {
    const { context, log } = this.#set
    const remote: OpTime[] = []
    for (;;) {
      const before = remote.at(-1)
      const request = { before: before === undefined ? null : opTimeFields(before), count: positionsPerRequest }
      const reply = await context
        .request(source, 'replication.positions-before', request, { pinned: true })
        .catch((error: unknown) => {
          if (error instanceof RequestFailedError) return null
          throw error
        })
      if (reply === null) return 'unanswered'
      remote.push(...reply.positions.map(opTimeOf))
      const common = commonPoint(log.positionsBackwards(), remote.values())
      if (common !== null || reply.positions.length < positionsPerRequest) return common
    }
  }
}

const denyMs = 1000
