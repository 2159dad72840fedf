/**
 * All methods are synchronous, so an operation is atomic between two awaits. Server:
 * sharding_catalog_manager_chunk_operations.cpp; README_versioning_protocols.
 */
import type { PlacementVersionTuple, TimestampPair } from '@shardlab/actor'
import {
  CommandError,
  documentValue,
  DocumentWriter,
  findField,
  readUint32,
  stringValue,
  type RawValue,
} from '@shardlab/bson'
import { generationOf, ShardKeyPattern } from '@shardlab/sharding'
import { chunkDocumentOf, chunkId, type ChunkFieldOrder, type ChunkOwner, type StoredChunk } from './chunk-documents.js'
import type { IndexRange } from '../store/index-scan.js'
import type { ChunkHost } from '../host.js'

const chunksNs = 'config.chunks'

export type ChunkVersion = readonly [major: number, minor: number]

/** The generation that a request assumes: epoch as hex, and timestamp; null: unknown. */
export type Generation = readonly [epoch: string, timestamp: TimestampPair | null]

/** Cached, because a migration reads the entry of a collection about ten times. */
interface ReadCollection {
  readonly owner: ChunkOwner
  readonly generation: readonly [epoch: string, seconds: number, increment: number]
  shardKey: ShardKeyPattern | null
}

const readCollections = new WeakMap<Uint8Array, ReadCollection>()

function readCollection(ns: string, document: Uint8Array): ReadCollection {
  const known = readCollections.get(document)
  if (known?.owner.ns === ns) return known
  const uuid = findField(document, 'uuid')!.asBinary()
  const owner = { ns, uuid, epoch: findField(document, 'lastmodEpoch')!.slice() }
  const read: ReadCollection = { owner, generation: generationOf(document), shardKey: null }
  readCollections.set(document, read)
  return read
}

export function generationOfCollection(ns: string, document: Uint8Array): ReadCollection['generation'] {
  return readCollection(ns, document).generation
}

export class CollectionChunks {
  readonly #catalog: ChunkHost
  readonly document: Uint8Array
  readonly #read: ReadCollection

  private constructor(catalog: ChunkHost, ns: string, document: Uint8Array) {
    this.#catalog = catalog
    this.document = document
    this.#read = readCollection(ns, document)
  }

  /** @returns null: the collection is not sharded */
  static open(catalog: ChunkHost, ns: string): CollectionChunks | null {
    const document = catalog.collection(ns)
    return document === null ? null : new CollectionChunks(catalog, ns, document)
  }

  get owner(): ChunkOwner {
    return this.#read.owner
  }

  get shardKey(): ShardKeyPattern {
    return (this.#read.shardKey ??= ShardKeyPattern.parse(findField(this.document, 'key')!.slice(), {
      compoundHashed: true,
    }))
  }

  get ns(): string {
    return this.owner.ns
  }

  get epoch(): string {
    return this.#read.generation[0]
  }

  isGeneration([epoch, timestamp]: Generation): boolean {
    const [own, seconds, increment] = this.#read.generation
    return own === epoch && (timestamp === null || (timestamp[0] === seconds && timestamp[1] === increment))
  }

  placementVersion([major, minor]: ChunkVersion): PlacementVersionTuple {
    return [...this.#read.generation, major, minor]
  }

  /** @throws CommandError 105 IncompatibleShardingMetadata without chunks */
  get version(): ChunkVersion {
    const known = this.#catalog.newestVersion
    if (known !== null && known.time === this.#catalog.node.clock.time && known.collection === this.document)
      return known.version
    const newest = this.#catalog.firstChunkDocument(this.document, {
      fields: ['lastmod'],
      from: [],
      to: [],
      reverse: true,
    })
    if (newest === null)
      throw new CommandError(
        'IncompatibleShardingMetadata',
        `Tried to find max chunk version for collection '${this.ns}, but found no chunks`,
      )
    const lastmod = findField(newest, 'lastmod')!
    return this.noteVersion([readUint32(lastmod.bytes, lastmod.start + 4), readUint32(lastmod.bytes, lastmod.start)])
  }

  /** Caches {@link version} until the next write. @returns it */
  noteVersion(version: ChunkVersion): ChunkVersion {
    this.#catalog.newestVersion = { time: this.#catalog.node.clock.time, collection: this.document, version }
    return version
  }

  /** 0|0 without chunks. */
  versionOn(shard: string): ChunkVersion {
    let newest: ChunkVersion = [0, 0]
    for (const { major, minor } of this.on(shard))
      if (major > newest[0] || (major === newest[0] && minor > newest[1])) newest = [major, minor]
    return newest
  }

  at(min: Uint8Array): StoredChunk | null {
    const bound = documentValue(min)
    return this.#first({ fields: ['min'], from: [bound], to: [bound] })
  }

  /** The last chunk that starts at or below the bound. */
  beginningAtOrBelow(bound: Uint8Array): StoredChunk | null {
    return this.#first({ fields: ['min'], from: [], to: [documentValue(bound)], reverse: true })
  }

  /** The chunk that ends at the bound, or else contains it. Server: getChunkForMaxBound. */
  endingAtOrAbove(bound: Uint8Array): StoredChunk | null {
    return this.#first({ fields: ['min'], from: [], to: [documentValue(bound)], toIncluded: false, reverse: true })
  }

  /**
   * Chunks that start in `[min, max)`, in key order.
   * @param shard null: of all shards
   */
  inRange(min: Uint8Array, max: Uint8Array, shard: string | null): StoredChunk[] {
    const bounds = { from: [documentValue(min)], to: [documentValue(max)], toIncluded: false }
    if (shard === null) return this.#all({ fields: ['min'], ...bounds })
    const [from, to] = [
      [stringValue(shard), ...bounds.from],
      [stringValue(shard), ...bounds.to],
    ]
    return this.#all({ fields: ['shard', 'min'], from, to, toIncluded: false })
  }

  /** In key order. */
  on(shard: string): StoredChunk[] {
    return this.#all({ fields: ['shard', 'min'], from: [stringValue(shard)], to: [stringValue(shard)] })
  }

  /** Except the chunk that starts at `min`. */
  lowestOnBeside(shard: string, min: Uint8Array): StoredChunk | null {
    const owner = [this.#catalog.store.nameValue(shard)]
    const range = { fields: ['shard', 'min'], from: owner, to: owner }
    const bound = documentValue(min)
    return this.#catalog.storedChunks(
      this.document,
      range,
      (document) => findField(document, 'min')?.isIdentical(bound) !== true,
    )()
  }

  isUnchanged(chunk: StoredChunk): boolean {
    return this.#catalog.store.isCurrent(chunksNs, chunk.id)
  }

  newId(min: Uint8Array): RawValue {
    return chunkId(this.#catalog.behaviours, this.ns, min, this.#catalog.node.newObjectId())
  }

  /** Inserts, or replaces the chunk with the same `_id`. */
  put(chunk: StoredChunk, order: ChunkFieldOrder): void {
    this.#catalog.store.put(chunksNs, chunkDocumentOf(this.#catalog.behaviours, this.owner, chunk, order))
  }

  /** As {@link put}, for a chunk that was read in the same turn. */
  replace(chunk: StoredChunk, order: ChunkFieldOrder): void {
    this.#catalog.store.replace(chunksNs, chunk.id, chunkDocumentOf(this.#catalog.behaviours, this.owner, chunk, order))
  }

  remove(chunk: StoredChunk): void {
    this.#catalog.store.remove(chunksNs, new DocumentWriter(64).value('_id', chunk.id).finish())
  }

  #all(range: IndexRange): StoredChunk[] {
    const chunks: StoredChunk[] = []
    const found = this.#catalog.storedChunks(this.document, range)
    for (let chunk = found(); chunk !== null; chunk = found()) chunks.push(chunk)
    return chunks
  }

  #first(range: IndexRange): StoredChunk | null {
    return this.#catalog.storedChunks(this.document, range)()
  }
}

/** For changes that move no data. */
export function nextMinor([major, minor]: ChunkVersion): ChunkVersion {
  return [major, minor + 1]
}

/** For changes of owner. */
export function nextMajor([major]: ChunkVersion): ChunkVersion {
  return [major + 1, 0]
}

export function withVersion<C extends StoredChunk>(chunk: C, [major, minor]: ChunkVersion): C {
  return { ...chunk, major, minor }
}
