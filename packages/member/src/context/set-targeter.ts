import {
  createDeferred,
  RequestFailedError,
  type ActorContext,
  type Address,
  type MessageKind,
  type Random,
  type ReplyOf,
  type RequestOf,
  type RequestOptions,
} from '@shardlab/actor'
import type { ReadPreference } from '../concerns/read-preference.js'
import { lookupTimeoutMs } from './lookup-timeout.js'
import { MemberStates } from './member-states.js'
import { suitableMembers } from './server-selection.js'

/**
 * Sends requests to members of replica sets: to primaries, which it caches, or to members that suit
 * a read preference. One for each process. A request is sent again only if the first receiver
 * certainly did not run it. Server: remote_command_targeter_rs.cpp, replica_set_monitor.cpp.
 */
export class SetTargeter {
  readonly #context: ActorContext
  /** A primary stays here until it fails or refuses a request. */
  readonly #primaries = new Map<Address, Address>()
  /** Callers share a search that runs. */
  readonly #lookups = new Map<Address, Promise<Address | null>>()
  readonly #states: MemberStates
  #random: Random | null = null

  constructor(context: ActorContext) {
    this.#context = context
    this.#states = new MemberStates(context)
  }

  /** Null: `to` names one member, or none. */
  membersOf(to: Address): readonly Address[] | null {
    const members = this.#context.resolve(to)
    return members.length > 1 ? members : null
  }

  /**
   * To a member as `ActorContext.request`. To a set: one attempt, which pauses nowhere. It asks the
   * members for the primary if that is unknown or has changed.
   * @param sending called with each member to which the request is sent; the last one has replied
   *   or failed. Only for sets
   * @throws RequestFailedError, whose `to` is the set
   */
  request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
    sending?: (member: Address) => void,
  ): Promise<ReplyOf<K>> {
    const members = this.membersOf(to)
    return members === null
      ? this.#context.request(to, kind, request, options)
      : this.#requestPrimary(to, members, kind, request, options, sending)
  }

  /**
   * As {@link request}, to any member of the set that suits the preference. `members`: those of
   * {@link membersOf}.
   */
  async requestSuitable<K extends MessageKind>(
    set: Address,
    members: readonly Address[],
    preference: ReadPreference,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
    sending?: (member: Address) => void,
  ): Promise<ReplyOf<K>> {
    const [member] = await this.chooseSuitable(set, members, preference, 1)
    sending?.(member!)
    return this.requestMember(set, member!, kind, request, options)
  }

  /**
   * At random.
   * @returns as many members as there are, up to `most`
   * @throws RequestFailedError: no member is suitable
   */
  async chooseSuitable(
    set: Address,
    members: readonly Address[],
    preference: ReadPreference,
    most: number,
  ): Promise<Address[]> {
    let suitable = suitableMembers(await this.#states.of(set, members), preference)
    if (suitable.length === 0) suitable = suitableMembers(await this.#states.refresh(set, members), preference)
    if (suitable.length === 0)
      throw new RequestFailedError('unreachable', set, `no member of ${set} suits the read preference`, true)
    this.#random ??= this.#context.random.fork('read preference')
    const rest = suitable.map(({ address }) => address)
    const chosen: Address[] = []
    while (chosen.length < most && rest.length > 0) chosen.push(...rest.splice(this.#random.below(rest.length), 1))
    return chosen
  }

  /** @throws RequestFailedError, whose `to` is the set */
  async requestMember<K extends MessageKind>(
    set: Address,
    member: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>> {
    try {
      return await this.#context.request(member, kind, request, options)
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      if (error.reason === 'unreachable') this.forget(set, member)
      throw new RequestFailedError(error.reason, set, error.message, error.undelivered)
    }
  }

  /** A message to a set is lost when its primary is unknown. */
  send<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): void {
    const receiver = this.membersOf(to) === null ? to : this.#primaries.get(to)
    if (receiver !== undefined) this.#context.send(receiver, kind, request)
  }

  /** The member did not answer, or is in another state. */
  forget(set: Address, member: Address): void {
    if (this.#primaries.get(set) === member) this.#primaries.delete(set)
    this.#states.drop(set)
  }

  async #requestPrimary<K extends MessageKind>(
    set: Address,
    members: readonly Address[],
    kind: K,
    request: RequestOf<K>,
    options: RequestOptions | undefined,
    sending: ((member: Address) => void) | undefined,
  ): Promise<ReplyOf<K>> {
    let [hasLooked, hasHint] = [false, false]
    let member = this.#primaries.get(set) ?? null
    for (;;) {
      if (member === null) {
        hasLooked = true
        member = await this.#findPrimary(set, members)
        if (member === null) throw new RequestFailedError('unreachable', set, `${set} has no primary`, true)
        this.#primaries.set(set, member)
      }
      let refusal: RequestFailedError
      try {
        sending?.(member)
        const reply = await this.#context.request(member, kind, request, options)
        this.#primaries.set(set, member)
        return reply
      } catch (error) {
        if (!(error instanceof RequestFailedError)) throw error
        if (error.reason === 'unreachable') this.forget(set, member)
        refusal = error
      }
      const { reason, undelivered, primaryHint, message } = refusal
      const mayHint = !hasHint && primaryHint !== null && primaryHint !== member && members.includes(primaryHint)
      const isOver = reason !== 'unreachable' || !undelivered || options?.pinned === true
      if (isOver || (hasLooked && !mayHint)) throw new RequestFailedError(reason, set, message, undelivered)
      member = mayHint ? primaryHint : null
      hasHint ||= mayHint
    }
  }

  #findPrimary(set: Address, members: readonly Address[]): Promise<Address | null> {
    let lookup = this.#lookups.get(set)
    if (lookup === undefined) {
      lookup = this.#askMembers(members)
      this.#lookups.set(set, lookup)
      const end = (): void => void this.#lookups.delete(set)
      lookup.then(end, end)
    }
    return lookup
  }

  /**
   * The primary with the newest term. Decided once a majority has answered and has no newer term: a
   * newer primary would have the vote of one of them. Null: none was found.
   */
  #askMembers(members: readonly Address[]): Promise<Address | null> {
    const found = createDeferred<Address | null>()
    let [missing, answered, newestTerm, primaryTerm] = [members.length, 0, -1, -1]
    let primary: Address | null = null
    const decide = (): void => {
      const isDecided = primary !== null && primaryTerm === newestTerm && answered * 2 > members.length
      if (--missing === 0 || isDecided) found.resolve(primary)
    }
    for (const member of members) {
      const options = { timeoutMs: lookupTimeoutMs, pinned: true }
      this.#context.request(member, 'replication.find-primary', {}, options).then(
        ({ isWritable, term }) => {
          answered++
          newestTerm = Math.max(newestTerm, term)
          if (isWritable && term > primaryTerm) [primary, primaryTerm] = [member, term]
          decide()
        },
        (error: unknown) => {
          if (error instanceof RequestFailedError) decide()
          else found.reject(error)
        },
      )
    }
    return found.promise
  }
}
