/**
 * The interfaces through which catalog code reaches the config server. `ShardingCatalog` implements
 * all of them; a function takes the narrowest that has what it uses.
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

/** Requests that the config server answers. */
export type ConfigKind = Extract<MessageKind, `config.${string}`>

/**
 * One handler per kind. Everything a handler reads and writes before its first `await` is atomic:
 * no other request sees a part of it.
 */
export type ConfigHandlers<K extends ConfigKind, Host = CatalogHost> = {
  readonly [Kind in K]: (catalog: Host, request: RequestOf<Kind>) => Promise<ReplyOf<Kind>> | ReplyOf<Kind>
}

/** Reads the catalog's collections. */
export interface CatalogReader {
  /** The config.databases document; null: unknown database. */
  database(db: string): Uint8Array | null
  /** The config.collections document; null: not in the catalog, or dropped. */
  collection(ns: string): Uint8Array | null
  /** The config.collections documents of all collections, unsharded ones included, by namespace. */
  collections(): Uint8Array[]
  shardIds(): string[]
  /**
   * Chunk documents of a collection in the order of an index of config.chunks.
   * @param range fields and values after those by which config.chunks identifies the collection
   */
  chunkDocuments(collection: Uint8Array, range: IndexRange): Uint8Array[]
  /** The first document of {@link chunkDocuments}; null: none. */
  firstChunkDocument(collection: Uint8Array, range: IndexRange): Uint8Array | null
  /**
   * The documents of {@link chunkDocuments} one by one. The catalog must not be written before the
   * end.
   */
  eachChunkDocument(collection: Uint8Array, range: IndexRange): Iterable<Uint8Array>
  /** The first `limit` (null: all) chunk documents newer than `since` (null: all), oldest first. */
  newerChunkDocuments(collection: Uint8Array, since: PlacementVersionTuple | null, limit?: number | null): Uint8Array[]
  /**
   * A cursor over the parsed documents of {@link chunkDocuments}: the next chunk per call, null at
   * the end. The catalog must not be written before the end.
   * @param isWanted skips the documents for which it is false
   */
  storedChunks(
    collection: Uint8Array,
    range: IndexRange,
    isWanted?: (document: Uint8Array) => boolean,
  ): () => StoredChunk | null
  /** The config.tags documents of a collection, in key order. */
  zonesOf(ns: string): Uint8Array[]
  /** The chunk documents of a collection, in key order. */
  chunks(collection: Uint8Array): Uint8Array[]
  clusterId(): Uint8Array
}

/** The catalog and the node that stores it. */
export interface CatalogHost extends CatalogReader {
  readonly node: NodeHost
  readonly store: CatalogStore
  readonly behaviours: Behaviours
  /**
   * Marks a database as one whose collections may be sharded, in versions that store such a mark.
   * @returns whether it changed anything; the caller flushes the node then
   */
  markPartitioned(database: Uint8Array): boolean
  emitChange(change: CatalogEvent['change'], ns: string): void
}

/** The newest version of a collection's chunks; valid while the node's clock does not tick. */
export interface NewestVersion {
  readonly time: TimestampPair
  /** The collection's entry. */
  readonly collection: Uint8Array
  readonly version: readonly [major: number, minor: number]
}

/** A host whose chunks can be changed. */
export interface ChunkHost extends CatalogHost {
  newestVersion: NewestVersion | null
}

/** The routing tables that are attached to answers. */
export interface Placements {
  /**
   * The answer to a member that knows `since`, a version of the collection's generation (null:
   * none); null: the member has to apply the documents, because clients have written to them.
   */
  update(ns: string, collection: Uint8Array, since: PlacementVersionTuple | null): TableUpdate | null
  /** Drops the table of a collection that is no longer in the catalog. */
  forget(ns: string): void
}

/** A host that answers placement refreshes. */
export interface PlacementHost extends CatalogHost {
  readonly placements: Placements
}

/** A chunk as it was found when its move was requested. */
export interface MovingChunk {
  /** The collection's entry. */
  readonly collection: Uint8Array
  readonly chunk: StoredChunk
}

/** A host that requests migrations and commits them. */
export interface MigrationHost extends ChunkHost {
  /** The chunk of the latest move request, by donor. */
  readonly moving: Map<string, MovingChunk>
}

/** A host that creates databases. */
export interface DatabaseHost extends CatalogHost {
  /** Creations in progress, by lower-case name: concurrent requests share one. */
  readonly databasesInCreation: Map<string, Promise<ReplyOf<'config.create-database'>>>
}

/**
 * A member that samples queries. In memory only, as on the server: members report again after a
 * restart.
 */
export interface Sampler {
  pingedAtMs: number
  queriesPerSecond: number
}

export interface SamplerHost extends CatalogHost {
  /** Members that sample queries, by name. */
  readonly samplers: Map<string, Sampler>
}

/** What clients and participants can ask of the reshardings in progress. */
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

/** Everything that the handlers need together. */
export interface ConfigHost extends MigrationHost, PlacementHost, DatabaseHost, SamplerHost, ReshardingHost {}
