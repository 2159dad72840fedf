import type { Address, AddressDirectory, ClusterEvent } from '@shardlab/actor'
import type { MemberBoot } from '../host/actor-cell.js'
import { endpointOf, parseEndpoint } from '../host/clients/endpoint.js'
import type { MemberInfo, MemberSpec, MemberState } from '../runtime.js'

/** `Place`: what the kind of world adds. */
export interface Member<Place> {
  readonly spec: MemberSpec
  readonly index: number
  readonly place: Place
  state: MemberState
  /** The address of the next start: the one that was bound first. */
  listen: MemberSpec['listen']
  endpoint: string
  threadId: number
  incarnation: number
}

export function isUp({ state }: { readonly state: MemberState }): boolean {
  return state === 'running' || state === 'starting'
}

/** Enters the members and their endpoints in the directory, and emits the `member` events. */
export class MemberTable<Place> {
  readonly #members = new Map<Address, Member<Place>>()
  /** Of removed members. A later one of the name continues, so that it repeats no id. */
  readonly #lastIncarnations = new Map<Address, number>()
  readonly #directory: AddressDirectory
  readonly #emit: (event: ClusterEvent) => void
  readonly #now: () => number

  constructor(directory: AddressDirectory, now: () => number, emit: (event: ClusterEvent) => void) {
    this.#directory = directory
    this.#now = now
    this.#emit = emit
  }

  /** @throws Error when one of the members cannot be added */
  check(specs: readonly MemberSpec[], hasRole: (role: string) => boolean): void {
    const addresses = new Set(this.#members.keys())
    for (const { address, role } of specs) {
      if (addresses.has(address)) throw new Error(`the cluster already has a member ${address}`)
      if (!hasRole(role)) throw new Error(`the runtime has no role ${role}`)
      addresses.add(address)
    }
    for (const { address, set } of [...this.all().map(({ spec }) => spec), ...specs]) {
      if (set !== undefined && set !== address && addresses.has(set))
        throw new Error(`${address} cannot be in the replica set ${set}: a member has that name`)
    }
  }

  /** For a member that {@link check} has accepted. */
  add(spec: MemberSpec, place: Place): Member<Place> {
    const member: Member<Place> = {
      spec,
      index: this.#directory.add(spec.address),
      place,
      state: 'starting',
      listen: spec.listen,
      endpoint: nameOf(spec),
      threadId: 0,
      incarnation: (this.#lastIncarnations.get(spec.address) ?? -1) + 1,
    }
    this.#members.set(spec.address, member)
    if (spec.set !== undefined) this.#directory.join(spec.set, spec.address)
    if (spec.formerEndpoint !== undefined) this.nameEndpoint(spec.address, spec.formerEndpoint)
    this.nameEndpoints(member)
    return member
  }

  /** Also the one where it listens next. */
  nameEndpoints({ spec: { address }, endpoint, listen }: Member<Place>): void {
    this.nameEndpoint(address, endpoint)
    if (listen !== null && listen.port !== 0)
      this.nameEndpoint(address, endpointOf(listen.announcedHost ?? listen.host, listen.port))
  }

  /** Earlier endpoints of the member stay its names, until another member has them. */
  nameEndpoint(address: Address, endpoint: string): void {
    this.#directory.name(address, endpoint)
  }

  /** @throws Error when the member is unknown */
  get(address: Address): Member<Place> {
    const member = this.#members.get(address)
    if (member === undefined) throw new Error(`the cluster has no member ${address}`)
    return member
  }

  find(address: Address): Member<Place> | undefined {
    return this.#members.get(address)
  }

  remove(address: Address): void {
    this.#lastIncarnations.set(address, this.get(address).incarnation)
    this.#members.delete(address)
    this.#directory.leave(address)
  }

  all(): Member<Place>[] {
    return [...this.#members.values()]
  }

  infos(): MemberInfo[] {
    return this.all().map(memberInfo)
  }

  info(address: Address): MemberInfo | undefined {
    const member = this.#members.get(address)
    return member === undefined ? undefined : memberInfo(member)
  }

  /** @throws Error when the member is up */
  down(address: Address): Member<Place> {
    const member = this.get(address)
    if (isUp(member)) throw new Error(`${address} is ${member.state}: only a member that is down can lose its disk`)
    return member
  }

  /** @throws Error unless the member is crashed or stopped */
  restarting(address: Address): Member<Place> {
    const member = this.get(address)
    if (member.state !== 'crashed' && member.state !== 'stopped')
      throw new Error(`${address} is ${member.state}: only a crashed or stopped member can be restarted`)
    member.state = 'starting'
    member.incarnation++
    return member
  }

  started(member: Member<Place>, endpoint: string, threadId: number): void {
    // It may have crashed since, at a step that it reached right after its start.
    if (member.state !== 'starting') return
    member.state = 'running'
    member.endpoint = endpoint
    this.nameEndpoint(member.spec.address, endpoint)
    // The next incarnation listens there again. Without a listener the endpoint is only a name.
    if (member.listen !== null && endpoint !== nameOf(member.spec))
      member.listen = { ...member.listen, ...parseEndpoint(endpoint) }
    member.threadId = threadId
    this.#report(member, 'started')
  }

  /** A member that counted as crashed runs: only the connection was lost. */
  returned(member: Member<Place>): void {
    member.state = 'running'
    this.#report(member, 'started')
  }

  stopped(member: Member<Place>): void {
    member.state = 'stopped'
    this.#report(member, 'stopped')
  }

  /** `error` null: a fault crashed it. */
  crashed(member: Member<Place>, error: Error | null): void {
    member.state = 'crashed'
    if (error !== null) {
      const fields = { stack: error.stack ?? error.message }
      this.#emit({
        type: 'log',
        atMs: this.#now(),
        member: member.spec.address,
        level: 'error',
        message: error.message,
        fields,
      })
    }
    this.#report(member, 'crashed', error)
  }

  #report(member: Member<Place>, state: 'started' | 'stopped' | 'crashed', error: Error | null = null): void {
    const event = { type: 'member', atMs: this.#now(), member: member.spec.address, state } as const
    this.#emit(error === null ? event : { ...event, error: `${error.name}: ${error.message}` })
  }
}

function nameOf({ address }: MemberSpec): string {
  return `${address}:27017`
}

export function memberBoot({ spec, index, listen, incarnation }: Member<unknown>): MemberBoot {
  return { index, address: spec.address, role: spec.role, options: spec.options, listen, incarnation }
}

export function memberInfo(member: Member<unknown>): MemberInfo {
  const { spec, state, endpoint, threadId } = member
  return { address: spec.address, set: spec.set ?? spec.address, role: spec.role, state, endpoint, threadId }
}
