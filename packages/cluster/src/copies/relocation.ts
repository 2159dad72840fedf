/**
 * A copied cluster listens on other ports than its original, so members that store addresses are
 * informed, and each set elects a primary.
 */
import { configAddress, type Address, type OpTimeTuple } from '@shardlab/actor'
import type { MemberInfo, Runtime, WorldCopy } from '@shardlab/runtime'
import { primaryOf } from '../sets/primary-of.js'
import { storageRoles } from '../storage-roles.js'

type Change = readonly [from: string, to: string]

interface Candidate {
  readonly address: Address
  readonly set: Address
  readonly applied: OpTimeTuple
}

export class Relocation {
  readonly #runtime: Runtime
  /** Changes of `host:port` that the config server has not received. */
  #unsent: Change[] = []
  /** All changes since the copy, for members whose disks are older. */
  #all: Change[] = []
  /** Members of sets that do not know the changes: they were down. */
  readonly #uninformed = new Set<Address>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  async afterRestore({ members }: WorldCopy, restored: readonly MemberInfo[]): Promise<void> {
    const before = members.map(({ spec: { address }, endpoint }) => ({ address, endpoint }))
    await this.moved(before, restored)
  }

  /** @param before where the members listened when their data was written */
  async moved(before: readonly Pick<MemberInfo, 'address' | 'endpoint'>[], now: readonly MemberInfo[]): Promise<void> {
    const endpoints = new Map(now.map(({ address, endpoint }) => [address, endpoint]))
    this.#unsent = before.flatMap(({ address, endpoint }) => changeOf(endpoint, endpoints.get(address) ?? endpoint))
    this.#all = [...this.#unsent]
    this.#uninformed.clear()
    for (const { address } of this.#ofSets(({ state }) => state !== 'running')) this.#uninformed.add(address)
    const running = this.#ofSets(({ state }) => state === 'running')
    await this.#elect(await Promise.all(running.map((member) => this.#relocate(member, this.#all))))
    await this.#send()
  }

  /** @throws Error if the member is running */
  async restart(address: Address): Promise<void> {
    const before = this.#runtime.members().find((member) => member.address === address)!.endpoint
    const { endpoint } = await this.#runtime.background.restart(address)
    const changes = changeOf(before, endpoint)
    this.#all.push(...changes)
    this.#unsent.push(...changes)
    const isUninformed = this.#uninformed.delete(address)
    await Promise.all(
      this.#ofSets(({ state }) => state === 'running').flatMap((member) => {
        if (member.address === address && isUninformed) return [this.#relocate(member, this.#all)]
        return changes.length === 0 ? [] : [this.#relocate(member, changes)]
      }),
    )
    await this.#send()
  }

  /** Members of sets with several members. */
  #ofSets(fits: (member: MemberInfo) => boolean): MemberInfo[] {
    return this.#runtime
      .members()
      .filter((member) => member.set !== member.address && storageRoles.has(member.role) && fits(member))
  }

  /** Null: the member may not become primary. */
  async #relocate({ address, set }: MemberInfo, moved: readonly Change[]): Promise<Candidate | null> {
    const { applied, electable } = await this.#runtime.background.request(address, 'replication.relocate', { moved })
    return electable ? { address, set, applied } : null
  }

  /** The members of a copy are secondaries. One with the newest data runs for election. */
  async #elect(candidates: readonly (Candidate | null)[]): Promise<void> {
    const best = new Map<Address, Candidate>()
    for (const candidate of candidates) {
      if (candidate === null) continue
      const other = best.get(candidate.set)
      if (other === undefined || isNewer(candidate.applied, other.applied)) best.set(candidate.set, candidate)
    }
    await Promise.all(
      [...best.values()].map(({ address }) => this.#runtime.request(address, 'replication.campaign', {})),
    )
  }

  /** Keeps the changes while the config server is down; informs shards and routers after it. */
  async #send(): Promise<void> {
    if (this.#unsent.length === 0) return
    const config = await primaryOf(this.#runtime, configAddress)
    if (config === null) return
    const moved = this.#unsent
    this.#unsent = []
    await this.#runtime.request(config, 'config.relocate', { moved })
    const { connectionString: configHost } = await this.#runtime.request(config, 'config.introduce', {})
    const members = this.#runtime.members()
    const shards = new Set(members.flatMap(({ role, set }) => (role === 'shard' ? [set] : [])))
    const primaries = await Promise.all([...shards].map((set) => primaryOf(this.#runtime, set)))
    await Promise.all([
      ...primaries.flatMap((shard) =>
        shard === null ? [] : [this.#runtime.request(shard, 'shard.relocate', { configHost })],
      ),
      ...members.flatMap(({ address, role, state }) =>
        role === 'mongos' && state === 'running' ? [this.#runtime.request(address, 'mongos.refresh-shards', {})] : [],
      ),
    ])
  }
}

/** By term first, as voters compare candidates. */
function isNewer(
  [seconds, increment, term]: OpTimeTuple,
  [otherSeconds, otherIncrement, otherTerm]: OpTimeTuple,
): boolean {
  return (term - otherTerm || seconds - otherSeconds || increment - otherIncrement) > 0
}

function changeOf(from: string, to: string): Change[] {
  return from === to ? [] : [[from, to]]
}
