/**
 * The chunks of one collection while an operation changes them: what there is, and the version arithmetic that splits, merges and migrations
 * share. Nothing here waits, so that an operation that does everything between two awaits is alone.
 * Server: sharding_catalog_manager_chunk_operations.cpp; README_versioning_protocols.
 */
import type { PlacementVersionTuple, TimestampPair } from '@shardlab/actor'
import { CommandError, decode, DocumentWriter, findField, type RawValue } from '@shardlab/bson'
import { generationOf } from '@shardlab/sharding'
import { chunkDocumentOf, chunkId, parseStoredChunk, type ChunkFieldOrder, type ChunkOwner, type StoredChunk } from './chunk-documents.js'
import type { ShardingCatalog } from './sharding-catalog.js'

const chunksNs = 'config.chunks'

/** `[major, minor]`. */
export type ChunkVersion = readonly [major: number, minor: number]

/** Who asks for a change believes in this creation of the collection: epoch as hex, and the timestamp, null where it is not known. */
export type Generation = readonly [epoch: string, timestamp: TimestampPair | null]

export class CollectionChunks {
  readonly #catalog: ShardingCatalog
  /** The config.collections document. */
  readonly document: Uint8Array
  readonly owner: ChunkOwner
  readonly #generation: readonly [epoch: string, seconds: number, increment: number]

  private constructor(catalog: ShardingCatalog, ns: string, document: Uint8Array) {
    this.#catalog = catalog
    this.document = document
    const uuid = findField(document, 'uuid')!
    this.#generation = generationOf(decode(document))
    this.owner = { ns, uuid: uuid.asBinary(), epoch: findField(document, 'lastmodEpoch')!.slice() }
  }

  /** Null when the collection is not sharded. */
  static open(catalog: ShardingCatalog, ns: string): CollectionChunks | null {
    const document = catalog.collection(ns)
    return document === null ? null : new CollectionChunks(catalog, ns, document)
  }

  get ns(): string {
    return this.owner.ns
  }

  get epoch(): string {
    return this.#generation[0]
  }

  /** Is it the creation of the collection that was meant? */
  isGeneration([epoch, timestamp]: Generation): boolean {
    const [own, seconds, increment] = this.#generation
    return own === epoch && (timestamp === null || (timestamp[0] === seconds && timestamp[1] === increment))
  }

  /** A version of this generation. */
  placementVersion([major, minor]: ChunkVersion): PlacementVersionTuple {
    return [...this.#generation, major, minor]
  }

  /**
   * The newest version of all chunks. @throws CommandError 105 IncompatibleShardingMetadata when there are none
   */
  get version(): ChunkVersion {
    const newest = this.#first({}, { lastmod: -1 })
    if (newest === null)
      throw new CommandError(
        'IncompatibleShardingMetadata',
        `Tried to find max chunk version for collection '${this.ns}, but found no chunks`,
      )
    return [newest.major, newest.minor]
  }

  /** The newest version of the chunks of a shard, 0|0 when it has none. */
  versionOn(shard: string): ChunkVersion {
    const newest = this.#first({ shard }, { lastmod: -1 })
    return newest === null ? [0, 0] : [newest.major, newest.minor]
  }

  /** The chunk with this lower bound. */
  at(min: Uint8Array): StoredChunk | null {
    return this.#first({ min })
  }

  /** The chunk that begins at or below a bound, the nearest one; null when none does. */
  beginningAtOrBelow(bound: Uint8Array): StoredChunk | null {
    return this.#first({ min: { $lte: bound } }, { min: -1 })
  }

  /** The chunk that ends at a bound, or holds it where none ends there; null when there is none. Server: getChunkForMaxBound. */
  endingAtOrAbove(bound: Uint8Array): StoredChunk | null {
    return this.#first({ min: { $lt: bound } }, { min: -1 })
  }

  /** Chunks that begin in `[min, max)`, in key order; of one shard or of all. */
  inRange(min: Uint8Array, max: Uint8Array, shard: string | null): StoredChunk[] {
    return this.#find({ ...(shard === null ? {} : { shard }), min: { $gte: min, $lt: max } }, { min: 1 })
  }

  /** The chunks of a shard, in key order. */
  on(shard: string): StoredChunk[] {
    return this.#find({ shard }, { min: 1 })
  }

  /** The chunk of a shard with the lowest bound, other than the one with this lower bound. */
  lowestOnBeside(shard: string, min: Uint8Array): StoredChunk | null {
    return this.#first({ shard, min: { $ne: min } }, { min: 1 })
  }

  newId(min: Uint8Array): RawValue {
    return chunkId(this.#catalog.behaviours, this.ns, min, this.#catalog.node.newObjectId())
  }

  /** Inserts the chunk, or replaces the one with its `_id`. */
  put(chunk: StoredChunk, order: ChunkFieldOrder): void {
    this.#catalog.store.put(chunksNs, chunkDocumentOf(this.#catalog.behaviours, this.owner, chunk, order))
  }

  remove(chunk: StoredChunk): void {
    this.#catalog.store.remove(chunksNs, new DocumentWriter(64).value('_id', chunk.id).finish())
  }

  #find(filter: ChunkFilter, sort: Record<string, 1 | -1>): StoredChunk[] {
    return this.#catalog.store.findRaw(chunksNs, this.#filter(filter), sort).map(parseStoredChunk)
  }

  #first(filter: ChunkFilter, sort?: Record<string, 1 | -1>): StoredChunk | null {
    const document = this.#catalog.store.first(chunksNs, this.#filter(filter), sort)
    return document === null ? null : parseStoredChunk(document)
  }

  #filter({ shard, min }: ChunkFilter): Uint8Array {
    const writer = new DocumentWriter(192)
    this.#catalog.writeCollectionKey(writer, this.document, this.ns)
    if (shard !== undefined) writer.string('shard', shard)
    if (min instanceof Uint8Array) writer.document('min', min)
    else if (min !== undefined) {
      writer.startDocument('min')
      for (const [operator, bound] of Object.entries(min)) writer.document(operator, bound)
      writer.end()
    }
    return writer.finish()
  }
}

interface ChunkFilter {
  readonly shard?: string
  readonly min?: Uint8Array | { readonly [operator in '$lte' | '$gte' | '$lt' | '$ne']?: Uint8Array }
}

/** The next version that moves no data: the minor part is one more. */
export function nextMinor([major, minor]: ChunkVersion): ChunkVersion {
  return [major, minor + 1]
}

/** The first version after a change of owner: the major part is one more. */
export function nextMajor([major]: ChunkVersion): ChunkVersion {
  return [major + 1, 0]
}

/** `chunk` at this version. */
export function withVersion<C extends StoredChunk>(chunk: C, [major, minor]: ChunkVersion): C {
  return { ...chunk, major, minor }
}
