/** Elections, rollbacks and lag of the replica sets. */
import { counted } from '@shardlab/quantities'
import type { ClusterEvent } from '@shardlab/cluster'
import type { MemberView, ReplicaSets } from '../sets/replica-sets.js'
import type { Decision, ReplicationResult } from '../types.js'

type EventOf<T extends ClusterEvent['type']> = Extract<ClusterEvent, { readonly type: T }>

export class Replication {
  readonly #sets: ReplicaSets
  readonly #beginMs: number
  readonly decisions: Decision[] = []
  /** By set: members that are primary, as they report it themselves. */
  readonly #primaries = new Map<string, Set<string>>()
  /** By set: since when it has no primary. */
  readonly #without = new Map<string, number>()
  #elections = 0
  #failedElections = 0
  #stepDowns = 0
  #rollbacks = 0
  #rolledBackEntries = 0
  #worstLagMs = 0
  #longestWithoutPrimaryMs = 0

  private constructor(sets: ReplicaSets, beginMs: number) {
    this.#sets = sets
    this.#beginMs = beginMs
  }

  static async of(sets: ReplicaSets, beginMs: number): Promise<Replication> {
    const replication = new Replication(sets, beginMs)
    for (const set of sets.names) {
      const primary = await sets.primaryOf(set)
      if (primary === null) replication.#without.set(set, beginMs)
      else replication.#primaries.set(set, new Set([primary]))
    }
    return replication
  }

  readonly onEvent = (event: ClusterEvent): void => {
    // The only member of a set is its primary while it runs.
    if (!this.#sets.areSeveral) return
    switch (event.type) {
      case 'election':
        this.#onElection(event)
        return
      case 'member-state':
        if (event.to === 'PRIMARY') this.#isPrimary(event.set, event.member, event.atMs)
        else this.#isNoPrimary(event.set, event.member, event.atMs)
        return
      case 'member': {
        const set = this.#sets.setOf(event.member)
        if (set !== null && event.state !== 'started') this.#isNoPrimary(set, event.member, event.atMs)
        return
      }
      case 'step-down':
        this.#stepDowns++
        this.#note(event, `${event.member} steps down as primary of ${event.set} (${event.reason})`)
        return
      case 'rollback':
        this.#rollbacks++
        this.#rolledBackEntries += event.entries
        this.#note(event, rollbackText(event))
        return
      case 'rollback-failed':
        this.#note(event, `${event.member} has no entry in common with ${event.source}, and cannot roll back`)
        return
      case 'replication-lag':
        this.#note(
          event,
          event.state === 'behind'
            ? `${event.member} is ${Math.round(event.lagMs / 1000)} s behind ${event.primary}`
            : `${event.member} has caught up with ${event.primary}`,
        )
        return
      default:
    }
  }

  /** Of the member that is furthest behind its primary. Call it once per tick. */
  async sampleLagMs(): Promise<number> {
    let most = 0
    for (const set of this.#sets.areSeveral ? this.#sets.names : [])
      most = Math.max(most, lagMsOf(await this.#sets.viewsOf(set)))
    this.#worstLagMs = Math.max(this.#worstLagMs, most)
    return most
  }

  /** null: sets have one member. */
  result(nowMs: number): ReplicationResult | null {
    if (!this.#sets.areSeveral) return null
    const open = [...this.#without.values()].map((sinceMs) => nowMs - sinceMs)
    return {
      elections: this.#elections,
      failedElections: this.#failedElections,
      stepDowns: this.#stepDowns,
      rollbacks: this.#rollbacks,
      rolledBackEntries: this.#rolledBackEntries,
      longestWithoutPrimaryMs: Math.max(this.#longestWithoutPrimaryMs, ...open),
      worstLagMs: this.#worstLagMs,
    }
  }

  #onElection(event: EventOf<'election'>): void {
    const { member, set, outcome, dryRun, reason, term, votes, votesNeeded } = event
    if (outcome === 'won') this.#elections++
    else this.#failedElections++
    this.#note(
      event,
      outcome === 'won'
        ? `${member} is elected primary of ${set} in term ${term} with ${counted(votes, 'vote')} (${reason})`
        : `${member} is not elected${dryRun ? ' in a dry run' : ''}: ${counted(votes, 'vote')} of ${votesNeeded} (${reason})`,
    )
  }

  #isPrimary(set: string, member: string, atMs: number): void {
    const primaries = this.#primaries.get(set) ?? new Set()
    this.#primaries.set(set, primaries.add(member))
    const sinceMs = this.#without.get(set)
    if (sinceMs === undefined) return
    this.#without.delete(set)
    this.#longestWithoutPrimaryMs = Math.max(this.#longestWithoutPrimaryMs, atMs - sinceMs)
  }

  #isNoPrimary(set: string, member: string, atMs: number): void {
    const primaries = this.#primaries.get(set)
    if (primaries?.delete(member) === true && primaries.size === 0) this.#without.set(set, atMs)
  }

  #note({ atMs }: ClusterEvent, text: string): void {
    this.decisions.push({ atMs: atMs - this.#beginMs, kind: 'replication', text })
  }
}

/** In whole seconds, like the server's reports. Members in their initial sync do not count. */
function lagMsOf(views: readonly MemberView[]): number {
  const [primary] = views.filter(({ isWritable }) => isWritable).toSorted((a, b) => b.term - a.term)
  if (primary === undefined) return 0
  const seconds = views.filter(({ lastApplied }) => lastApplied[1] > 0).map(({ lastApplied }) => lastApplied[1])
  return Math.max(0, primary.lastApplied[1] - Math.min(...seconds)) * 1000
}

function rollbackText({ member, entries, namespaces }: EventOf<'rollback'>): string {
  const collections = namespaces.map(({ ns }) => ns)
  return `${member} rolls back ${entries} ${entries === 1 ? 'entry' : 'entries'}${collections.length === 0 ? '' : ` of ${collections.join(', ')}`}`
}
