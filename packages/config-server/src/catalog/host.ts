/**
 * `ShardingCatalog` implements all interfaces of this file; a function takes the narrowest one that
 * it can use.
 */
import type {
  CatalogEvent,
  MessageKind,
  PlacementVersionTuple,
  ReplyOf,
  RequestOf,
  TimestampPair,
} from '@shardlab/actor'
import type { NodeHost } from '@shardlab/node'
import type { Behaviours, TableUpdate } from '@shardlab/sharding'
import type { StoredChunk } from './chunks/chunk-documents.js'
import type { CatalogStore } from './store/catalog-store.js'
import type { IndexRange } from './store/index-scan.js'

export type ConfigKind = Extract<MessageKind, `config.${string}`>

/** A handler is atomic until its first `await`: no other request sees a part of its writes. */
export type ConfigHandlers<K extends ConfigKind, Host = CatalogHost> = {
  readonly [Kind in K]: (catalog: Host, request: RequestOf<Kind>) => Promise<ReplyOf<Kind>> | ReplyOf<Kind>
}

export interface CatalogReader {
  /** Null: unknown database. */
  database(db: string): Uint8Array | null
  /** The config.collections document; null: not in the catalog, or dropped. */
  collection(ns: string): Uint8Array | null
  /** Their config.collections documents by namespace, including unsharded collections. */
  collections(): Uint8Array[]
  shardIds(): string[]
  /**
   * Chunk documents in the order of an index of config.chunks.
   * @param range fields and values after those by which config.chunks identifies the collection
   */
  chunkDocuments(collection: Uint8Array, range: IndexRange): Uint8Array[]
  firstChunkDocument(collection: Uint8Array, range: IndexRange): Uint8Array | null
  /** {@link chunkDocuments} one by one. The catalog must not be written before the end. */
  eachChunkDocument(collection: Uint8Array, range: IndexRange): Iterable<Uint8Array>
  /**
   * Oldest first.
   * @param since only newer ones; null: all
   * @param limit null: all
   */
  newerChunkDocuments(collection: Uint8Array, since: PlacementVersionTuple | null, limit?: number | null): Uint8Array[]
  /**
   * A cursor over the parsed documents of {@link chunkDocuments}, which returns null at the end.
   * The catalog must not be written before the end.
   * @param isWanted skips the documents for which it is false
   */
  storedChunks(
    collection: Uint8Array,
    range: IndexRange,
    isWanted?: (document: Uint8Array) => boolean,
  ): () => StoredChunk | null
  /** Documents of config.tags, in key order. */
  zonesOf(ns: string): Uint8Array[]
  /** In key order. */
  chunks(collection: Uint8Array): Uint8Array[]
  clusterId(): Uint8Array
}

export interface CatalogHost extends CatalogReader {
  readonly node: NodeHost
  readonly store: CatalogStore
  readonly behaviours: Behaviours
  /** Resolves when the last change of cluster parameters has ended. */
  parameterChanges: Promise<void>
  /**
   * Marks a database as one whose collections may be sharded, in versions that store such a mark.
   * @returns whether it changed anything; the caller flushes the node then
   */
  markPartitioned(database: Uint8Array): boolean
  emitChange(change: CatalogEvent['change'], ns: string): void
}

/** Of a collection's chunks; valid until the node's clock ticks. */
export interface NewestVersion {
  readonly time: TimestampPair
  /** The config.collections document. */
  readonly collection: Uint8Array
  readonly version: readonly [major: number, minor: number]
}

export interface ChunkHost extends CatalogHost {
  newestVersion: NewestVersion | null
}

export interface Placements {
  /**
   * @param since version that the member knows, of the collection's generation; null: none
   * @returns null: clients have written to config.chunks, so the member must apply the documents
   *   itself
   */
  update(ns: string, collection: Uint8Array, since: PlacementVersionTuple | null): TableUpdate | null
  forget(ns: string): void
}

export interface PlacementHost extends CatalogHost {
  readonly placements: Placements
}

/** A chunk as found when its move was requested. */
export interface MovingChunk {
  /** The config.collections document. */
  readonly collection: Uint8Array
  readonly chunk: StoredChunk
}

export interface MigrationHost extends ChunkHost {
  /** The chunk of the latest move request, by donor. */
  readonly moving: Map<string, MovingChunk>
}

export interface DatabaseHost extends CatalogHost {
  /** By lower-case name: concurrent requests share one creation. */
  readonly databasesInCreation: Map<string, Promise<ReplyOf<'config.create-database'>>>
}

/** In memory only, as on the server: members report again after a restart. */
export interface Sampler {
  pingedAtMs: number
  queriesPerSecond: number
}

export interface SamplerHost extends CatalogHost {
  readonly samplers: Map<string, Sampler>
}

export interface ReshardingRequests {
  start(request: RequestOf<'config.start-resharding'>): Promise<ReplyOf<'config.start-resharding'>>
  awaitEnd(request: RequestOf<'config.await-resharding'>): Promise<ReplyOf<'config.await-resharding'>>
  abort(request: RequestOf<'config.abort-resharding'>): Promise<ReplyOf<'config.abort-resharding'>>
  commit(ns: string): void
  cleanUp(ns: string): Promise<ReplyOf<'config.cleanup-resharding'>>
  outcome(request: RequestOf<'config.resharding-outcome'>): ReplyOf<'config.resharding-outcome'>['outcome']
}

export interface ReshardingHost {
  readonly reshardings: ReshardingRequests
}

export interface ConfigHost extends MigrationHost, PlacementHost, DatabaseHost, SamplerHost, ReshardingHost {}
