/** The members of shards and config server as they are now, read without the network. */
import { configAddress, type Address } from '@shardlab/actor'
import type { SimulatedCluster } from '@shardlab/cluster'

export type Position = readonly [term: number, seconds: number, increment: number]

export interface MemberView {
  readonly address: Address
  readonly set: Address
  readonly state: string
  readonly isWritable: boolean
  readonly term: number
  /** null: none. */
  readonly syncSource: string | null
  readonly lastApplied: Position
  readonly committed: Position
}

/** Virtual time in which the members of all sets become equal once nothing is broken. */
const settleMsMax = 120_000

export class ReplicaSets {
  readonly #cluster: SimulatedCluster
  readonly #sets = new Map<Address, Address>()
  /** Whether sets have several members. */
  readonly areSeveral: boolean

  constructor(cluster: SimulatedCluster) {
    this.#cluster = cluster
    this.areSeveral = this.membersOf(configAddress).length > 1
  }

  get names(): readonly Address[] {
    return [configAddress, ...this.#cluster.shards]
  }

  membersOf(set: Address): readonly Address[] {
    return this.#cluster.membersOf(set)
  }

  /** null: a mongos or the balancer. */
  setOf(member: Address): Address | null {
    // Shards can be added.
    if (!this.#sets.has(member))
      for (const set of this.names) for (const each of this.membersOf(set)) this.#sets.set(each, set)
    return this.#sets.get(member) ?? null
  }

  isSet(name: Address): boolean {
    return this.names.includes(name)
  }

  /**
   * The writable primary of the newest term. null: none. The only member of a set is its primary
   * while it runs.
   */
  async primaryOf(set: Address): Promise<Address | null> {
    const members = this.#running(set)
    if (!this.areSeveral) return members[0] ?? null
    const primaries = (await this.viewsOf(set)).filter(({ isWritable }) => isWritable)
    return primaries.toSorted((a, b) => b.term - a.term)[0]?.address ?? null
  }

  /**
   * Asks the primary.
   * @returns undefined: the set has no primary, or the primary stepped down or crashed before it
   *   replied
   */
  async ask<T>(set: Address, ask: (primary: Address) => Promise<T>): Promise<T | undefined> {
    const primary = await this.primaryOf(set)
    if (primary === null) return undefined
    try {
      return await ask(primary)
    } catch (error) {
      if (isOfStateChange(error)) return undefined
      throw error
    }
  }

  /** Of members that run; empty: the set has one member. */
  async viewsOf(set: Address): Promise<MemberView[]> {
    if (!this.areSeveral) return []
    return Promise.all(
      this.#running(set).map(async (address) => {
        const { state, isWritable, term, syncSource, lastApplied, committed } = await this.#cluster.describe(address)
        return {
          address,
          set,
          state: String(state),
          isWritable: isWritable === true,
          term: Number(term),
          syncSource: typeof syncSource === 'string' ? syncSource : null,
          lastApplied: positionOf(lastApplied),
          committed: positionOf(committed),
        }
      }),
    )
  }

  /**
   * Waits until the members of each set have applied and committed the same entry.
   * @returns one sentence for each set whose members did not become equal
   */
  async settle(): Promise<string[]> {
    if (!this.areSeveral) return []
    const untilMs = this.#cluster.now() + settleMsMax
    for (;;) {
      const waiting: string[] = []
      for (const set of this.names) {
        const views = await this.viewsOf(set)
        if (!isSettled(views, this.membersOf(set).length))
          waiting.push(`the members of ${set} did not become equal: ${views.map(textOf).join(', ')}`)
      }
      if (waiting.length === 0 || this.#cluster.now() >= untilMs) return waiting
      await this.#cluster.advance(250)
    }
  }

  #running(set: Address): Address[] {
    return this.membersOf(set).filter((member) => this.#cluster.isRunning(member))
  }
}

/** It went down, or is no primary any more. */
function isOfStateChange(error: unknown): boolean {
  const { name, message } = error as Error
  return message.endsWith(' is not running') || name === 'NotPrimaryError'
}

export function isSettled(views: readonly MemberView[], members: number): boolean {
  if (views.length < members) return false
  if (views.filter(({ isWritable }) => isWritable).length !== 1) return false
  const text = String(views[0]!.lastApplied)
  return views.every(
    ({ state, lastApplied, committed }) =>
      (state === 'PRIMARY' || state === 'SECONDARY') && String(lastApplied) === text && String(committed) === text,
  )
}

export function comparePositions(a: Position, b: Position): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}

const textOf = ({ address, state, term, syncSource, lastApplied, committed }: MemberView): string =>
  `${address} is ${state} in term ${term}, syncs from ${syncSource ?? 'no member'}, has applied ${String(lastApplied)} and committed ${String(committed)}`

function positionOf(optime: unknown): Position {
  const { ts, term } = optime as { readonly ts: readonly [number, number]; readonly term: number }
  return [term, ts[0], ts[1]]
}
