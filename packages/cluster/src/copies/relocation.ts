/**
 * A copied cluster listens on other ports than its original: informs the members that store
 * addresses.
 */
import { configAddress, type Address } from '@shardlab/actor'
import type { MemberInfo, Runtime, WorldCopy } from '@shardlab/runtime'

export class Relocation {
  readonly #runtime: Runtime
  /** Changes of `host:port` that the config server has not been sent. */
  #unsent: (readonly [from: string, to: string])[] = []

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** Informs members after they were restored from a copy. */
  async afterRestore({ members }: WorldCopy, restored: readonly MemberInfo[]): Promise<void> {
    const endpoints = new Map(restored.map(({ address, endpoint }) => [address, endpoint]))
    this.#unsent = members.flatMap(({ spec: { address }, endpoint }) =>
      changeOf(endpoint, endpoints.get(address) ?? endpoint),
    )
    await this.#send()
  }

  /** Starts a member that is down. @throws Error when it is running */
  async restart(address: Address): Promise<void> {
    const before = this.#runtime.members().find((member) => member.address === address)!.endpoint
    const { endpoint } = await this.#runtime.background.restart(address)
    this.#unsent.push(...changeOf(before, endpoint))
    await this.#send()
  }

  /** Sends the changes if the config server runs, then informs the shards and routers that run. */
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
