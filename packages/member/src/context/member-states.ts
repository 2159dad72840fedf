import { RequestFailedError, type ActorContext, type Address } from '@shardlab/actor'
import { parseTags } from '../concerns/read-preference.js'
import { lookupTimeoutMs } from './lookup-timeout.js'
import type { KnownMember } from './server-selection.js'

/** Older states are used once more while newer ones are fetched. */
const freshMs = 1000
/** Older states are not used. As the server's monitor, which asks each member this often. */
const usableMs = 10_000
/** Of the newest round trip in the average. */
const pingShare = 0.2

interface SetStates {
  readonly members: readonly KnownMember[]
  readonly updatedAtMs: number
}

/**
 * The members of replica sets as they described themselves. Members are asked when a caller needs
 * their states, instead of all the time. Server: server_ping_monitor.cpp,
 * streamable_replica_set_monitor.cpp.
 */
export class MemberStates {
  readonly #context: ActorContext
  readonly #known = new Map<Address, SetStates>()
  /** Callers share a refresh that runs. */
  readonly #refreshes = new Map<Address, Promise<readonly KnownMember[]>>()
  /** By member; survives {@link drop}. */
  readonly #pingMs = new Map<Address, number>()

  constructor(context: ActorContext) {
    this.#context = context
  }

  /** In the order of `members`. */
  async of(set: Address, members: readonly Address[]): Promise<readonly KnownMember[]> {
    const known = this.#known.get(set)
    const ageMs = known === undefined ? Infinity : this.#context.now() - known.updatedAtMs
    if (known === undefined || ageMs >= usableMs || known.members.length !== members.length)
      return this.refresh(set, members)
    if (ageMs >= freshMs) this.#context.detach(this.refresh(set, members))
    return known.members
  }

  refresh(set: Address, members: readonly Address[]): Promise<readonly KnownMember[]> {
    let refresh = this.#refreshes.get(set)
    if (refresh === undefined) {
      refresh = this.#askAll(set, members)
      this.#refreshes.set(set, refresh)
    }
    return refresh
  }

  /** A member of the set did not answer, or is in another state. */
  drop(set: Address): void {
    this.#known.delete(set)
  }

  async #askAll(set: Address, members: readonly Address[]): Promise<readonly KnownMember[]> {
    try {
      const states = await this.#context.all(members.map((member) => this.#ask(member)))
      this.#known.set(set, { members: states, updatedAtMs: this.#context.now() })
      return states
    } finally {
      this.#refreshes.delete(set)
    }
  }

  async #ask(address: Address): Promise<KnownMember> {
    const sentAtMs = this.#context.now()
    try {
      const options = { timeoutMs: lookupTimeoutMs, pinned: true }
      const { state, tags, lastWriteMs } = await this.#context.request(address, 'replication.member-state', {}, options)
      const updatedAtMs = this.#context.now()
      const pingMs = this.#averagePing(address, updatedAtMs - sentAtMs)
      return { address, state, tags: parseTags(tags), lastWriteMs, updatedAtMs, pingMs }
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      return { address, state: null, tags: new Map(), lastWriteMs: 0, updatedAtMs: sentAtMs, pingMs: 0 }
    }
  }

  #averagePing(member: Address, roundTripMs: number): number {
    const before = this.#pingMs.get(member) ?? roundTripMs
    const pingMs = before + pingShare * (roundTripMs - before)
    this.#pingMs.set(member, pingMs)
    return pingMs
  }
}
