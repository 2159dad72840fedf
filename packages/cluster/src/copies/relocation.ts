/**
 * A copied cluster listens on other ports than its original, so members that store addresses are
 * informed.
 */
import { configAddress, type Address } from '@shardlab/actor'
import type { MemberInfo, Runtime, WorldCopy } from '@shardlab/runtime'

export class Relocation {
  readonly #runtime: Runtime
  /** Changes of `host:port` that the config server has not received. */
  #unsent: (readonly [from: string, to: string])[] = []

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  async afterRestore({ members }: WorldCopy, restored: readonly MemberInfo[]): Promise<void> {
    const endpoints = new Map(restored.map(({ address, endpoint }) => [address, endpoint]))
    this.#unsent = members.flatMap(({ spec: { address }, endpoint }) =>
      changeOf(endpoint, endpoints.get(address) ?? endpoint),
    )
    await this.#send()
  }

  /** @throws Error if the member is running */
  async restart(address: Address): Promise<void> {
    const before = this.#runtime.members().find((member) => member.address === address)!.endpoint
    const { endpoint } = await this.#runtime.background.restart(address)
    this.#unsent.push(...changeOf(before, endpoint))
    await this.#send()
  }

  /** Keeps the changes while the config server is down; informs shards and routers after it. */
  async #send(): Promise<void> {
    const running = this.#runtime.members().filter(({ state }) => state === 'running')
    const config = running.find(({ address }) => address === configAddress)
    if (config === undefined || this.#unsent.length === 0) return
    const moved = this.#unsent
    this.#unsent = []
    await this.#runtime.request(configAddress, 'config.relocate', { moved })
    const configHost = `${configAddress}/${config.endpoint}`
    const informed = running.flatMap(({ address, role }): Promise<unknown>[] => {
      if (role === 'shard') return [this.#runtime.request(address, 'shard.relocate', { configHost })]
      return role === 'mongos' ? [this.#runtime.request(address, 'mongos.refresh-shards', {})] : []
    })
    await Promise.all(informed)
  }
}

function changeOf(from: string, to: string): (readonly [string, string])[] {
  return from === to ? [] : [[from, to]]
}
