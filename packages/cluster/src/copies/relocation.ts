/** A copied cluster listens on other ports than its original. Who writes down where members are is told. */
import { configAddress, type Address } from '@shardlab/actor'
import type { MemberInfo, Runtime, WorldCopy } from '@shardlab/runtime'

export class Relocation {
  readonly #runtime: Runtime
  /** Pairs of `host:port` that the config server has not heard of. */
  #untold: (readonly [from: string, to: string])[] = []

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** The members of this cluster go on from a copy. */
  async noteCopy({ members }: WorldCopy, now: readonly MemberInfo[]): Promise<void> {
    const places = new Map(now.map(({ address, endpoint }) => [address, endpoint]))
    this.#untold = members.flatMap(({ spec: { address }, endpoint }) =>
      pairOf(endpoint, places.get(address) ?? endpoint),
    )
    await this.#tell()
  }

  /** Starts a member that is down. @throws Error when it is not */
  async restart(address: Address): Promise<void> {
    const before = this.#runtime.members().find((member) => member.address === address)!.endpoint
    const { endpoint } = await this.#runtime.background.restart(address)
    this.#untold.push(...pairOf(before, endpoint))
    await this.#tell()
  }

  /** The config server hears of it when it runs, and those that run then. */
  async #tell(): Promise<void> {
    const running = this.#runtime.members().filter(({ state }) => state === 'running')
    const config = running.find(({ address }) => address === configAddress)
    if (config === undefined || this.#untold.length === 0) return
    const moved = this.#untold
    this.#untold = []
    await this.#runtime.request(configAddress, 'config.relocate', { moved })
    const configHost = `${configAddress}/${config.endpoint}`
    const told = running.flatMap(({ address, role }): Promise<unknown>[] => {
      if (role === 'shard') return [this.#runtime.request(address, 'shard.relocate', { configHost })]
      return role === 'mongos' ? [this.#runtime.request(address, 'mongos.refresh-shards', {})] : []
    })
    await Promise.all(told)
  }
}

function pairOf(from: string, to: string): (readonly [string, string])[] {
  return from === to ? [] : [[from, to]]
}
