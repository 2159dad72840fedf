/** Reads the state once per tick, bypassing the network, so that sampling changes nothing. */
import { configAddress } from '@shardlab/actor'
import { BsonType, elementsOf, findField } from '@shardlab/bson'
import type { ChunkSample, Sample, ShardSample } from '../types.js'
import type { Movements } from './movements.js'
import type { Replication } from './replication.js'
import type { Routed } from './routed.js'
import type { Load } from './load.js'
import type { SizePeaks } from './size-peaks.js'
import type { ScenarioWorld } from './world.js'

export class Sampler {
  readonly #world: ScenarioWorld
  readonly #routed: Routed
  readonly #workload: Load
  readonly #sizes: SizePeaks
  readonly #movements: Movements
  readonly #replication: Replication
  readonly #beginMs: number
  readonly samples: Sample[] = []
  readonly #operations = new Map<string, number>()
  #shards: readonly Pick<ShardSample & { readonly id: string }, 'id' | 'draining' | 'zones'>[] = []
  readonly #chunksOn = new Map<string, number>()
  #chunks: Readonly<Record<string, readonly ChunkSample[]>> = {}
  #jumboChunks = 0
  #succeeded = 0
  #failed = 0
  #bytesMoved = 0

  constructor(
    world: ScenarioWorld,
    {
      routed,
      workload,
      movements,
      replication,
    }: {
      readonly routed: Routed
      readonly workload: Load
      readonly movements: Movements
      readonly replication: Replication
    },
  ) {
    this.#world = world
    this.#routed = routed
    this.#workload = workload
    this.#sizes = world.sizes
    this.#movements = movements
    this.#replication = replication
    this.#beginMs = world.cluster.now()
  }

  async sample(): Promise<Sample> {
    await this.#readCatalog()
    const shards: Record<string, ShardSample> = {}
    for (const { id, draining, zones } of this.#shards) {
      const all = Math.round(this.#routed.perShard.get(id) ?? 0)
      const chunks = this.#chunksOn.get(id) ?? 0
      const operations = all - (this.#operations.get(id) ?? 0)
      shards[id] = { ...this.#sizes.of(id), chunks, operations, draining, zones }
      this.#operations.set(id, all)
    }
    const sample: Sample = {
      atMs: this.#world.cluster.now() - this.#beginMs,
      shards,
      succeeded: this.#workload.succeeded - this.#succeeded,
      failed: this.#workload.failed - this.#failed,
      bytesMoved: this.#movements.bytesMoved - this.#bytesMoved,
      jumboChunks: this.#jumboChunks,
      lagMs: await this.#replication.sampleLagMs(),
      chunks: this.#chunks,
    }
    this.#succeeded = this.#workload.succeeded
    this.#failed = this.#workload.failed
    this.#bytesMoved = this.#movements.bytesMoved
    this.samples.push(sample)
    return sample
  }

  /** While the config server is down or has no primary, the last known state holds. */
  async #readCatalog(): Promise<void> {
    const { cluster, catalog, sets } = this.#world
    const read = await sets.ask(configAddress, (primary) => cluster.peek(primary, 'config.get-shards', {}))
    if (read === undefined) return
    this.#shards = read.shards.map((shard) => ({
      id: findField(shard, '_id')!.asString(),
      draining: findField(shard, 'draining')?.isTruthy() === true,
      zones: zonesOf(shard),
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
}

function zonesOf(shard: Uint8Array): string[] {
  const tags = findField(shard, 'tags')
  return tags?.type === BsonType.array ? elementsOf(tags).map((tag) => tag.asString()) : []
}
