/**
 * The owners of a collection's chunks at past cluster times, for reads with read concern snapshot.
 * Server: ChunkManager::makeAtTime, ChunkInfo::getShardIdAt of chunk.cpp.
 */
import { BsonType, CommandError, documentsOf, findField, readUint32, type RawValue } from '@shardlab/bson'
import { parseChunk } from '../model/chunk.js'
import { isOfGeneration, wholeTable, type CollectionPlacement } from './placement.js'
import { RoutingTable, type ChunkEntry } from './routing-table.js'

type ClusterTime = readonly [seconds: number, increment: number]

interface Ownership {
  readonly validAfter: ClusterTime
  readonly shard: string
}

export class PlacementHistory {
  readonly #placement: CollectionPlacement
  /** The owners are newest first. */
  readonly #chunks: readonly (readonly [chunk: ChunkEntry, owners: readonly Ownership[]])[]
  #newest: ClusterTime = [0, 0]
  /** The reads of one session use one time. */
  #past: { readonly time: ClusterTime; readonly placement: CollectionPlacement } | null = null

  /**
   * @param chunks all config.chunks documents of the collection, of the placement's generation and
   *   not older than it
   */
  constructor(placement: CollectionPlacement, chunks: readonly Uint8Array[]) {
    this.#placement = placement
    const { shardKey } = placement
    this.#chunks = chunks.map((document) => {
      const { min, max, shard, major, minor } = parseChunk(document)
      const owners = ownersIn(document)
      const since = owners[0]?.validAfter
      if (since !== undefined && isBefore(this.#newest, since)) this.#newest = since
      return [
        { min: shardKey.keyStringOfBound(min)!, max: shardKey.keyStringOfBound(max)!, shard, major, minor },
        owners,
      ] as const
    })
  }

  /** When a chunk last changed its owner. */
  get newest(): ClusterTime {
    return this.#newest
  }

  /**
   * The placement with the owners at that time; its versions are meaningless.
   * @throws CommandError 250 StaleChunkHistory if the catalog's history does not reach back to it
   */
  at(time: ClusterTime): CollectionPlacement {
    if (!isBefore(time, this.#newest)) return this.#placement
    const past = this.#past
    if (past !== null && past.time[0] === time[0] && past.time[1] === time[1]) return past.placement
    const { table, shardKey } = this.#placement
    const [epoch, seconds, increment] = table.version
    const bounds = { globalMin: shardKey.globalMinKeyString, globalMax: shardKey.globalMaxKeyString }
    const chunks = this.#chunks.map(([chunk, owners]) => ({ ...chunk, shard: ownerAt(owners, time) }))
    const placement = { ...this.#placement, table: RoutingTable.build([epoch, seconds, increment], bounds, chunks) }
    this.#past = { time, placement }
    return placement
  }
}

export interface CatalogDocuments {
  /** Null: the catalog does not have the collection. */
  readonly collection: Uint8Array | null
  /** All of the collection. */
  readonly chunks: readonly Uint8Array[]
}

/** Each history is requested once, by the first read of a past time. */
export class PlacementHistories {
  readonly #known = new WeakMap<CollectionPlacement, Promise<PlacementHistory | null>>()

  /**
   * @param ask requests the whole collection from the catalog, chunks included
   * @returns null: the collection was dropped or recreated since
   * @throws the error of `ask`; the next read retries
   */
  of(placement: CollectionPlacement, ask: () => Promise<CatalogDocuments>): Promise<PlacementHistory | null> {
    const known = this.#known.get(placement)
    if (known !== undefined) return known
    const asked = load(placement, ask)
    this.#known.set(placement, asked)
    asked.catch(() => this.#known.delete(placement))
    return asked
  }
}

async function load(
  placement: CollectionPlacement,
  ask: () => Promise<CatalogDocuments>,
): Promise<PlacementHistory | null> {
  const { ns, shardKey, table } = placement
  const { collection, chunks } = await ask()
  if (collection === null || !isOfGeneration(collection, table.version)) return null
  // Throws if the documents are not a placement.
  wholeTable(ns, collection, shardKey, chunks)
  return new PlacementHistory(placement, chunks)
}

/** @throws CommandError 250 StaleChunkHistory */
function ownerAt(owners: readonly Ownership[], time: ClusterTime): string {
  const owner = owners.find(({ validAfter }) => !isBefore(time, validAfter))
  if (owner !== undefined) return owner.shard
  throw new CommandError(
    'StaleChunkHistory',
    `Cannot find shardId the chunk belonged to at cluster time Timestamp(${time[0]}, ${time[1]})`,
  )
}

function ownersIn(chunk: Uint8Array): Ownership[] {
  const history = findField(chunk, 'history')
  if (history?.type !== BsonType.array) return []
  return documentsOf(history).flatMap((entry) => {
    const validAfter = findField(entry, 'validAfter')
    const shard = findField(entry, 'shard')
    if (validAfter?.type !== BsonType.timestamp || shard?.type !== BsonType.string) return []
    return [{ validAfter: clusterTime(validAfter), shard: shard.asString() }]
  })
}

function clusterTime({ bytes, start }: RawValue): ClusterTime {
  return [readUint32(bytes, start + 4), readUint32(bytes, start)]
}

function isBefore(a: ClusterTime, b: ClusterTime): boolean {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1])
}
