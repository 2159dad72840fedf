/** Waiting for the protocol of a set. */
import type { CancelSignal } from '@shardlab/actor'
import type { CommandError } from '@shardlab/bson'
import type { OpTime, WriteConcern } from '@shardlab/replication'
import type { ProtocolParts } from './protocol-parts.js'
import { TimeLimitedSignal } from './time-limited-signal.js'
import { Waiters } from './waiters.js'

export class SetWaits {
  readonly #set: ProtocolParts
  readonly #waiters = new Waiters()

  constructor(set: ProtocolParts) {
    this.#set = set
  }

  get areWaiting(): boolean {
    return this.#waiters.areWaiting
  }

  /** After every change of the protocol's state. */
  check(): void {
    this.#waiters.check()
  }

  /**
   * Waits until enough members have the entry.
   * @returns the error that ends the wait; null: satisfied; `late`: not within the time
   */
  async awaitWriteConcern(
    target: OpTime,
    concern: WriteConcern,
    { timeoutMs, signal }: { readonly timeoutMs: number | null; readonly signal?: CancelSignal },
  ): Promise<CommandError | null | 'late'> {
    if (this.#set.context.mutated('writeConcernWaitOff')) return null
    const decide = () => {
      const decision = this.#set.coordinator.decideWriteConcern(target, concern)
      return decision === 'waiting' ? null : { error: decision === 'satisfied' ? null : decision }
    }
    const decision = await this.within(timeoutMs, decide, signal)
    return decision === null ? 'late' : decision.error
  }

  /** Resolves when the entry is on a majority and cannot be rolled back. */
  async awaitMajority(target: OpTime, signal?: CancelSignal): Promise<CommandError | null> {
    const outcome = await this.awaitWriteConcern(
      target,
      { w: 'majority', j: null },
      { timeoutMs: null, ...(signal && { signal }) },
    )
    return outcome === 'late' ? null : outcome
  }

  /** @returns true: the topology has changed; false: the time is over, or the signal aborted */
  async awaitTopology(counter: number, timeoutMs: number, signal: CancelSignal): Promise<boolean> {
    const changed = () => (this.#set.coordinator.state.topologyCounter === counter ? null : true)
    return (await this.within(timeoutMs, changed, signal)) === true
  }

  /** Resolves when a majority has everything up to that time, or the signal aborts. */
  async awaitCommitted(ts: OpTime['ts'], signal?: CancelSignal): Promise<void> {
    const committed = () => {
      const { ts: newest } = this.#set.coordinator.committed.optime
      return newest[0] > ts[0] || (newest[0] === ts[0] && newest[1] >= ts[1]) ? true : null
    }
    await this.within(null, committed, signal)
  }

  /**
   * Until the decision is made, the time is over or the signal aborts.
   * @returns null: without a decision
   */
  async within<T>(durationMs: number | null, decide: () => T | null, signal?: CancelSignal): Promise<T | null> {
    if (durationMs === null) return this.#waiters.wait(decide, signal)
    const limit = new TimeLimitedSignal(this.#set.context, durationMs, signal)
    try {
      return await this.#waiters.wait(decide, limit.signal)
    } finally {
      limit.end()
    }
  }
}
