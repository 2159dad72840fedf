/** The events of one member of a replica set. */
import type { ActorContext, ClusterEvent, RolledBackNamespace } from '@shardlab/actor'
import type { MemberState, OpTime, StepDownReason } from '@shardlab/replication'
import type { Lag } from './lag-watch.js'
import type { ElectionEffect } from './protocol/protocol-hooks.js'

export class SetEvents {
  readonly #context: ActorContext
  readonly #set: string | null

  /** @param set null: clients do not see the set, and it has no events */
  constructor(context: ActorContext, set: string | null) {
    this.#context = context
    this.#set = set
  }

  stateChanged(from: MemberState, to: MemberState): void {
    this.#emit({ type: 'member-state', ...this.#common, from, to })
  }

  elected({ outcome, dryRun, reason, term, votes, votesNeeded, refusals }: ElectionEffect): void {
    if (dryRun && outcome === 'won') return
    const election = { outcome, dryRun, reason, term, votes, votesNeeded, refusals: [...refusals] }
    this.#emit({ type: 'election', ...this.#common, ...election })
  }

  steppedDown(term: number, reason: StepDownReason): void {
    this.#emit({ type: 'step-down', ...this.#common, term, reason })
  }

  rolledBack({ ts, term }: OpTime, entries: number, namespaces: readonly RolledBackNamespace[]): void {
    this.#emit({ type: 'rollback', ...this.#common, to: [ts[0], ts[1], term], entries, namespaces })
  }

  rollbackFailed(host: string): void {
    const [source = host] = this.#context.resolve(host)
    this.#emit({ type: 'rollback-failed', ...this.#common, source })
  }

  /** Of another member, on its primary. */
  lagging({ host, ...lag }: Lag): void {
    const [member = host] = this.#context.resolve(host)
    this.#emit({ type: 'replication-lag', ...this.#common, member, primary: this.#context.address, ...lag })
  }

  limitReached(limit: string, value: number): void {
    const { address } = this.#context
    this.#context.emit({ type: 'limit', atMs: this.#context.now(), member: address, limit, value })
  }

  #emit(event: ClusterEvent): void {
    if (this.#set !== null) this.#context.emit(event)
  }

  get #common() {
    return { atMs: this.#context.now(), member: this.#context.address, set: this.#set ?? '' }
  }
}
