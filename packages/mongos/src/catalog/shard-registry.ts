/** Server: shard_registry.cpp. */
import { configAddress, type Address, type ClusterClock } from '@shardlab/actor'
import { findField } from '@shardlab/bson'
import type { Operation } from '../dispatch/operation.js'
import type { Remote } from '../remote/remote.js'

export interface KnownShards {
  /** `set/host:port` by shard. */
  readonly hosts: ReadonlyMap<Address, string>
  /** Whether a placement named a shard that is not in the list. */
  readonly isBehind: boolean
}

export class ShardRegistry {
  readonly #remote: Remote
  readonly #clock: ClusterClock
  #hosts: ReadonlyMap<Address, string> = new Map()
  #ids: readonly Address[] = []
  #isBehind = false

  constructor(remote: Remote, clock: ClusterClock) {
    this.#remote = remote
    this.#clock = clock
  }

  /**
   * @returns the config.shards documents
   * @throws CommandError 133, 6, 50
   */
  async refresh(operation: Operation | null): Promise<readonly Uint8Array[]> {
    const { shards, clusterTime } = await this.#remote.request(configAddress, 'config.get-shards', {}, operation)
    this.#clock.advance(clusterTime)
    this.#hosts = new Map(
      shards.map((shard) => [findField(shard, '_id')!.asString(), findField(shard, 'host')!.asString()]),
    )
    this.#ids = [...this.#hosts.keys()].sort()
    this.#isBehind = false
    return shards
  }

  /**
   * A shard that owns chunks but is not in the list has joined the cluster since the last fetch.
   */
  expect(shards: readonly Address[]): void {
    if (!shards.every((shard) => this.#hosts.has(shard))) this.#isBehind = true
  }

  /** Sorted. Fetches the list if it is empty or incomplete. */
  async ids(operation: Operation | null): Promise<readonly Address[]> {
    if (this.#ids.length === 0 || this.#isBehind) await this.refresh(operation)
    return this.#ids
  }

  /** Sorted; without those that have joined since the last fetch. */
  get known(): readonly Address[] {
    return this.#ids
  }

  /**
   * By its id, its connection string or its host; undefined: there is no such shard. Fetches the
   * list again before it gives up.
   */
  async find(name: string, operation: Operation | null): Promise<Address | undefined> {
    await this.ids(operation)
    const known = this.#named(name)
    if (known !== undefined) return known
    await this.refresh(operation)
    return this.#named(name)
  }

  #named(name: string): Address | undefined {
    if (this.#hosts.has(name)) return name
    for (const [id, connection] of this.#hosts)
      if (name === connection || name === connection.slice(connection.indexOf('/') + 1)) return id
    return undefined
  }

  /** `set/host:port`; the id of a shard that is not in the list. */
  connectionString(shard: Address): string {
    return this.#hosts.get(shard) ?? shard
  }

  setNameOf(shard: Address): string {
    return this.connectionString(shard).split('/')[0]!
  }

  /** `host:port`; the id of a shard that is not in the list. */
  hostOf(shard: Address): string {
    return this.connectionString(shard).split('/').at(-1)!
  }

  entries(): IterableIterator<[string, string]> {
    return this.#hosts.entries()
  }

  export(): KnownShards {
    return { hosts: this.#hosts, isBehind: this.#isBehind }
  }

  import({ hosts, isBehind }: KnownShards): void {
    this.#hosts = hosts
    this.#ids = [...hosts.keys()].sort()
    this.#isBehind = isBehind
  }
}
