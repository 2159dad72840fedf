/** Reads the state once per tick, bypassing the network, so that sampling changes nothing. */
import { configAddress } from '@shardlab/actor'
import { findField } from '@shardlab/bson'
import type { ChunkSample, Sample, ShardSample } from '../types.js'
import type { Routed } from './routed.js'
import type { Load } from './load.js'
import type { ScenarioWorld } from './world.js'

export class Sampler {
  readonly #world: ScenarioWorld
  readonly #routed: Routed
  readonly #workload: Load
  readonly #beginMs: number
  readonly samples: Sample[] = []
  readonly #bytes = new Map<string, number>()
  readonly #orphans = new Map<string, number>()
  readonly #operations = new Map<string, number>()
  #shards: readonly { readonly id: string; readonly draining: boolean }[] = []
  readonly #chunksOn = new Map<string, number>()
  #chunks: Readonly<Record<string, readonly ChunkSample[]>> = {}
  #jumboChunks = 0
  #succeeded = 0
  #failed = 0

  constructor(world: ScenarioWorld, routed: Routed, workload: Load) {
    this.#world = world
    this.#routed = routed
    this.#workload = workload
    this.#beginMs = world.cluster.now()
  }

  async sample(): Promise<Sample> {
    await this.#readCatalog()
    await this.#readShards()
    const shards: Record<string, ShardSample> = {}
    for (const { id, draining } of this.#shards) {
      const all = Math.round(this.#routed.perShard.get(id) ?? 0)
      const chunks = this.#chunksOn.get(id) ?? 0
      const orphans = this.#orphans.get(id) ?? 0
      shards[id] = {
        bytes: this.#bytes.get(id) ?? 0,
        orphans,
        chunks,
        operations: all - (this.#operations.get(id) ?? 0),
        draining,
      }
      this.#operations.set(id, all)
    }
    const sample: Sample = {
      atMs: this.#world.cluster.now() - this.#beginMs,
      shards,
      succeeded: this.#workload.succeeded - this.#succeeded,
      failed: this.#workload.failed - this.#failed,
      jumboChunks: this.#jumboChunks,
      chunks: this.#chunks,
    }
    this.#succeeded = this.#workload.succeeded
    this.#failed = this.#workload.failed
    this.samples.push(sample)
    return sample
  }

  /** While the config server is down, the last known state holds. */
  async #readCatalog(): Promise<void> {
    const { cluster, catalog } = this.#world
    if (!this.#up().has(configAddress)) return
    const { shards } = await cluster.peek(configAddress, 'config.get-shards', {})
    this.#shards = shards.map((shard) => ({
      id: findField(shard, '_id')!.asString(),
      draining: findField(shard, 'draining')?.isTruthy() === true,
    }))
    const chunks: Record<string, readonly ChunkSample[]> = {}
    this.#jumboChunks = 0
    this.#chunksOn.clear()
    for (const [ns, view] of catalog) {
      const placement = await view.placement()
      chunks[ns] = view.owners()
      if (placement === null) continue
      this.#jumboChunks += view.jumboChunks
      const { table } = placement
      for (const shard of table.owners())
        this.#chunksOn.set(shard, (this.#chunksOn.get(shard) ?? 0) + table.chunksOn(shard))
    }
    this.#chunks = chunks
  }

  async #readShards(): Promise<void> {
    const { cluster, scenario } = this.#world
    const namespaces = scenario.collections.map(({ ns }) => ns)
    const up = this.#up()
    for (const { id } of this.#shards) {
      if (!up.has(id)) continue
      const { sizes } = await cluster.peek(id, 'shard.collection-sizes', { namespaces })
      this.#bytes.set(
        id,
        sizes.reduce((sum, size) => sum + size, 0),
      )
      const { collections } = await cluster.peek(id, 'shard.collection-counts', { namespaces })
      this.#orphans.set(
        id,
        collections.reduce((sum, [, , orphans]) => sum + orphans, 0),
      )
    }
  }

  #up(): Set<string> {
    const running = this.#world.cluster.members().filter(({ state }) => state === 'running')
    return new Set(running.map(({ address }) => address))
  }
}
