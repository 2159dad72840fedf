/** Server: cluster_statistics_impl.cpp, cluster_stats. */
import { configAddress, RequestFailedError, type ActorContext } from '@shardlab/actor'
import { BsonType, elementsOf, findField, sameBytes } from '@shardlab/bson'
import { type Behaviours, type ShardKeyPattern } from '@shardlab/sharding'
import { ChunkMap, type ChunkMapUpdate, type KnownChunk } from './chunks/chunk-map.js'
import { Distribution, splitsAtZones, type ShardStatistics, type ZoneRange } from './policy/distribution.js'
import { chunkCountLoad, dataSizeLoad, type Load } from './policy/load.js'

export const configTimeoutMs = 10_000
/** A shard that does not reply in this time takes no part in the round. */
const sizeTimeoutMs = 10_000
/** Some 2 MB of documents. */
const chunksPerAnswer = 10_000
const bytesPerMegabyte = 1024 * 1024

interface KnownZoneRange extends ZoneRange {
  readonly minDocument: Uint8Array
  readonly maxDocument: Uint8Array
}

interface KnownZones {
  readonly shardKey: ShardKeyPattern
  readonly zones: readonly Uint8Array[]
  readonly ranges: readonly KnownZoneRange[]
}

/**
 * The config.collections document of a sharded collection, and the switches that the balancer
 * respects.
 */
export interface CollectionSwitches {
  readonly ns: string
  readonly document: Uint8Array
  readonly isSwitchedOff: boolean
  readonly mayMigrate: boolean
  /** Moved as a whole: tracked, but not sharded. */
  readonly isUnsplittable: boolean
  readonly isDefragmenting: boolean
  /** In the catalog; null: none. */
  readonly defragmentationPhase: string | null
  readonly maxChunkSizeBytes: number | null
}

export interface CollectionView extends CollectionSwitches {
  readonly chunks: ChunkMap
  readonly ranges: readonly KnownZoneRange[]
  readonly distribution: Distribution
}

/** A split is due because a zone begins or ends within the chunk. */
export interface ZoneSplit {
  readonly chunk: KnownChunk
  readonly points: readonly Uint8Array[]
}

export class ClusterView {
  readonly #context: ActorContext
  readonly #behaviours: Behaviours
  /**
   * In the order of config.shards, parsed once: there may be a thousand, and they seldom change.
   */
  #shards: readonly { readonly document: Uint8Array; readonly statistics: ShardStatistics }[] = []
  readonly #known = new Map<string, ChunkMap>()
  /** The latest zones by namespace, parsed under the shard key of that time. */
  readonly #ranges = new Map<string, KnownZones>()

  constructor(context: ActorContext, behaviours: Behaviours) {
    this.#context = context
    this.#behaviours = behaviours
  }

  async shards(): Promise<ShardStatistics[]> {
    const { shards } = await this.#context.request(
      configAddress,
      'config.get-shards',
      {},
      { timeoutMs: configTimeoutMs },
    )
    this.#shards = shards.map((document, i) => {
      const known = this.#shards[i]
      if (known !== undefined && sameBytes(known.document, document)) return known
      // A view would keep the documents of all shards alive.
      return { document: new Uint8Array(document), statistics: statisticsOf(document) }
    })
    return this.#shards.map(({ statistics }) => statistics)
  }

  async hasDatabase(db: string): Promise<boolean> {
    const timeout = { timeoutMs: configTimeoutMs }
    return (await this.#context.request(configAddress, 'config.get-database', { db }, timeout)).database !== null
  }

  /** Drops the cached chunks of collections that are no longer sharded. */
  async collections(): Promise<CollectionSwitches[]> {
    const { collections } = await this.#context.request(
      configAddress,
      'config.get-collections',
      {},
      { timeoutMs: configTimeoutMs },
    )
    const switches = collections.map(switchesOf)
    const names = new Set(switches.map(({ ns }) => ns))
    for (const ns of this.#known.keys()) if (!names.has(ns)) this.#forget(ns)
    return switches
  }

  /**
   * @param isNew reads all chunks again, because sizes change without a new version
   * @returns null: not sharded
   */
  async collection(ns: string, isNew = false): Promise<CollectionView | null> {
    const read = await this.#read(ns, isNew ? null : (this.#known.get(ns) ?? null))
    if (read === null) {
      this.#forget(ns)
      return null
    }
    const { collection, chunks } = read
    this.#known.set(ns, chunks)
    const { zones } = await this.#context.request(
      configAddress,
      'config.get-zones',
      { ns },
      { timeoutMs: configTimeoutMs },
    )
    const ranges = this.#rangesOf(ns, chunks.shardKey, zones)
    return { ...switchesOf(collection), chunks, ranges, distribution: new Distribution(chunks.byShard, ranges) }
  }

  /**
   * Reads the chunks that are new, in replies of limited length: there may be a million. Each
   * request sends the version of the last chunk, so chunks that change between two requests are
   * sent again.
   */
  async #read(
    ns: string,
    known: ChunkMap | null,
  ): Promise<{ readonly collection: Uint8Array; readonly chunks: ChunkMap } | null> {
    const options = { timeoutMs: configTimeoutMs }
    let update: ChunkMapUpdate | null = null
    for (;;) {
      const since = update?.version() ?? known?.version ?? null
      const request = { ns, since, limit: chunksPerAnswer }
      const { collection, chunks, full } = await this.#context.request(
        configAddress,
        'config.get-chunks',
        request,
        options,
      )
      if (collection === null) return null
      // A full reply to a later request: the collection was recreated.
      if (update === null || full) update = ChunkMap.update(full ? null : known, collection)
      update.add(chunks)
      if (chunks.length < chunksPerAnswer) return { collection, chunks: update.finish() }
    }
  }

  /** Returns the same list while nothing has changed, so that counts cached by list stay valid. */
  #rangesOf(ns: string, shardKey: ShardKeyPattern, zones: readonly Uint8Array[]): readonly KnownZoneRange[] {
    const known = this.#ranges.get(ns)
    const isKnown = known?.zones.length === zones.length && zones.every((zone, i) => sameBytes(zone, known.zones[i]!))
    if (isKnown && sameBytes(known.shardKey.document, shardKey.document)) return known.ranges
    const ranges = zones.flatMap((zone) => rangeOf(shardKey, zone))
    this.#ranges.set(ns, { shardKey, zones, ranges })
    return ranges
  }

  #forget(ns: string): void {
    this.#known.delete(ns)
    this.#ranges.delete(ns)
  }

  /** The catalog gives a jumbo chunk no new version, so mark it in the cache. */
  noteJumbo(ns: string, min: string): void {
    const known = this.#known.get(ns)
    if (known !== undefined) this.#known.set(ns, known.withJumbo(min))
  }

  /** Bytes per collection, in the given order, by shard. Shards that do not reply are missing. */
  async sizes(
    shards: readonly ShardStatistics[],
    namespaces: readonly string[],
  ): Promise<Map<string, readonly number[]>> {
    const sizes = new Map<string, readonly number[]>()
    await this.#context.all(
      shards.map(async ({ id }) => {
        try {
          sizes.set(
            id,
            (await this.#context.request(id, 'shard.collection-sizes', { namespaces }, { timeoutMs: sizeTimeoutMs }))
              .sizes,
          )
        } catch (error) {
          if (!(error instanceof RequestFailedError)) throw error
        }
      }),
    )
    return sizes
  }

  /** The cluster's default. */
  async chunkSizeBytes(): Promise<number> {
    const { setting } = await this.#context.request(
      configAddress,
      'config.get-setting',
      { id: 'chunksize' },
      { timeoutMs: configTimeoutMs },
    )
    return chunkSizeOf(setting, this.#behaviours)
  }

  /**
   * The measure by which this version compares shards.
   * @param bytes of the collection by shard; ignored where chunks are counted
   */
  load(
    shards: readonly ShardStatistics[],
    { distribution }: CollectionView,
    bytes: ReadonlyMap<string, number>,
    maxChunkSizeBytes: number,
  ): Load {
    return this.#behaviours.balancerMovesDataBySize
      ? dataSizeLoad(shards, { bytes, maxChunkSizeBytes })
      : chunkCountLoad(shards, distribution)
  }
}

export function chunkSizeOf(setting: Uint8Array | null, { defaultChunkSizeBytes }: Behaviours): number {
  const megabytes = setting === null ? undefined : findField(setting, 'value')
  return megabytes?.isNumber() === true && megabytes.asNumber() > 0
    ? Math.trunc(megabytes.asNumber() * bytesPerMegabyte)
    : defaultChunkSizeBytes
}

export function zoneSplitsOf({ chunks, ranges }: Pick<CollectionView, 'chunks' | 'ranges'>): ZoneSplit[] {
  const documents = new Map<string, Uint8Array>()
  for (const { min, max, minDocument, maxDocument } of ranges) documents.set(min, minDocument).set(max, maxDocument)
  const splits: ZoneSplit[] = []
  for (const [chunk, points] of splitsAtZones(chunks, ranges))
    splits.push({ chunk, points: points.map((point) => documents.get(point)!) })
  return splits
}

export function statisticsOf(document: Uint8Array): ShardStatistics {
  const tags = findField(document, 'tags')
  return {
    id: findField(document, '_id')!.asName(),
    isDraining: findField(document, 'draining')?.isTruthy() === true,
    zones:
      tags?.type === BsonType.array
        ? elementsOf(tags).flatMap((tag) => (tag.type === BsonType.string ? [tag.asString()] : []))
        : [],
    isFull: false,
  }
}

export function switchesOf(document: Uint8Array): CollectionSwitches {
  const isFalse = (name: string) => {
    const value = findField(document, name)
    return value?.type === BsonType.bool && !value.isTruthy()
  }
  const own = findField(document, 'maxChunkSizeBytes')
  const phase = findField(document, 'defragmentationPhase')
  return {
    ns: findField(document, '_id')!.asString(),
    document,
    isSwitchedOff: findField(document, 'noBalance')?.isTruthy() === true,
    mayMigrate: !isFalse('allowMigrations') && !isFalse('permitMigrations'),
    isUnsplittable: findField(document, 'unsplittable')?.isTruthy() === true,
    isDefragmenting: findField(document, 'defragmentCollection')?.isTruthy() === true,
    defragmentationPhase: phase?.type === BsonType.string ? phase.asString() : null,
    maxChunkSizeBytes: own?.isNumber() === true && own.asNumber() > 0 ? own.asNumber() : null,
  }
}

/**
 * Clients can write anything into config.tags: documents that are not ranges give an empty list.
 */
export function rangeOf(shardKey: ShardKeyPattern, document: Uint8Array): KnownZoneRange[] {
  const min = findField(document, 'min')
  const max = findField(document, 'max')
  const tag = findField(document, 'tag')
  if (min?.type !== BsonType.object || max?.type !== BsonType.object || tag?.type !== BsonType.string) return []
  const minDocument = min.slice()
  const maxDocument = max.slice()
  const from = shardKey.keyStringOfBound(minDocument)
  const to = shardKey.keyStringOfBound(maxDocument)
  return from === undefined || to === undefined
    ? []
    : [{ min: from, max: to, zone: tag.asString(), minDocument, maxDocument }]
}
