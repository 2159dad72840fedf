/** What a node sees of its storage. The memory engine is the one implementation; a durable one may follow. */
import type { RawValue } from '@shardlab/bson'
import type { FilterNode, KeyPattern } from '@shardlab/query'
import type { IndexCursor } from './index-cursor.js'
import type { StringLabels } from './collation/string-labels.js'
import type { KeyTuple, MultikeyPaths } from './index-keys.js'
import type { WildcardPaths } from './wildcard/wildcard-spec.js'
import type { InsertedDocuments } from './inserted-documents.js'
import type { LogEntry } from './log-entry.js'
import type { RecordScan, StoredRecord } from './record-table.js'

export type { StoredRecord } from './record-table.js'

/**
 * A range of index keys, as KeyStrings of whole keys or of leading fields of keys. An absent bound is open. An
 * inclusive bound of leading fields takes in every key that begins with them.
 */
export interface KeyRange {
  readonly low?: string
  readonly lowInclusive?: boolean
  readonly high?: string
  readonly highInclusive?: boolean
}

/** How often plans used an index. Counted outside of the log: a restart begins anew. */
export interface IndexUsage {
  ops: number
  /** Milliseconds since the epoch. */
  readonly sinceMs: number
}

export interface Index {
  /** The stored specification: `{ v, key, name, … }`. */
  readonly spec: Uint8Array
  readonly name: string
  /** The key pattern as a document. */
  readonly key: Uint8Array
  readonly pattern: KeyPattern
  readonly unique: boolean
  readonly sparse: boolean
  readonly hidden: boolean
  /** `partialFilterExpression`, or null. */
  readonly partialFilter: Uint8Array | null
  /** The same, parsed. */
  readonly partialRoot: FilterNode | null
  /** Has a document ever had an array on an indexed path? It stays so, as in the server. */
  readonly multikey: boolean
  /** For each field the path components that were arrays. */
  readonly multikeyPaths: MultikeyPaths
  /** The index's collation with all its fields; null for the simple one. */
  readonly collation: Uint8Array | null
  /** What stands in keys for strings; null without a collation. */
  readonly labels: StringLabels | null
  /** Which paths a wildcard index holds; null for any other index. */
  readonly wildcard: WildcardPaths | null
  /** Of a wildcard index: the paths that ever held an array. */
  readonly arrayPaths: ReadonlySet<string>
  /** The `accesses` of $indexStats. */
  readonly usage: IndexUsage
  /** Number of keys. */
  readonly entries: number
  /** Bytes of keys and record ids: an estimate of what the server would report. */
  readonly sizeBytes: number
  /** The document's keys; none when a partial or sparse index leaves it out. @throws CommandError as `KeyGenerator.generate` */
  keysOf(document: Uint8Array): readonly string[]
  /** The values behind the keys, repeated ones included; `undefined` for a missing field. */
  tuplesOf(document: Uint8Array): KeyTuple[]
  /** The key of such values, without a record id. */
  encode(tuple: KeyTuple): string
  /** Cursor over keys from `from` on and below `to`; absent bounds are open. */
  scanKeys(from: string | undefined, to: string | undefined, reverse: boolean): IndexCursor
  /** Cursor over a range, ascending or against the index's order. The index must not be written meanwhile. */
  seek(range: KeyRange, reverse?: boolean): IndexCursor
}

/** What a capped collection may hold. Manual page: core/capped-collections. */
export interface CappedLimits {
  readonly sizeBytes: number
  /** Null: any number. */
  readonly documents: number | null
}

export interface Collection {
  readonly ns: string
  readonly uuid: Uint8Array
  /** The options it was created with and collMod changed. */
  readonly options: Uint8Array
  readonly count: number
  /** Sum of the documents' BSON sizes. */
  readonly dataSizeBytes: number
  /** Null for a collection that is not capped. */
  readonly capped: CappedLimits | null
  /**
   * The oldest records of a capped collection that have to go for it to keep its limits, oldest first; never its
   * newest record. Whoever inserts asks after each document, and removes them by log entries of kind d.
   */
  cappedOverflow(): readonly StoredRecord[]
  /** Is the option `clusteredIndex` set? Then the collection's own order is the one of `_id`. */
  readonly clustered: boolean
  /** The collation that was given at creation, with all its fields; null for the simple one. */
  readonly defaultCollation: Uint8Array | null
  /** In order of creation, `_id_` first. */
  indexes(): readonly Index[]
  index(name: string): Index | undefined
  findById(id: RawValue): StoredRecord | undefined
  get(recordId: number): StoredRecord | undefined
  /**
   * Cursor over all documents in order of insertion, or against it. The collection must not be written meanwhile.
   * With `after` a forward scan starts behind that record id, whether the record is still there or not: a tailable
   * cursor goes on where it stopped by `collection.scan({ after: lastRecordId })` on the live collection.
   */
  scan(options?: { reverse?: boolean; after?: number }): RecordScan
  /** The collection as it is now, for reading while writers go on. Costs no more than its number of indexes. */
  snapshot(): Collection
}

/** Bytes that are made of it when they are wanted, the same ones whenever that is. */
export interface CheckpointImage {
  readonly length: number
  /** @param target at least {@link length} bytes */
  copyTo(target: Uint8Array): void
}

export interface StorageEngine {
  /**
   * Makes one change. Checks first, so that after an error nothing has changed.
   * @returns the document before an update or a delete; null for other kinds
   * @throws CommandError DuplicateKey, NamespaceExists, NamespaceNotFound, IndexNotFound and what keys and
   *   specifications are refused with. @throws Error when the entry breaks an invariant of the log.
   */
  apply(entry: LogEntry): Uint8Array | null
  /**
   * Inserts documents one after the other, as entries of kind i do, until one is refused.
   * @returns how many were inserted
   * @throws Error when one breaks an invariant of the log
   */
  insertEach(ns: string, documents: readonly Uint8Array[]): number
  /**
   * Inserts many documents at once, all or none of them; an entry for each of them says the same. Each is copied before the
   * next one is asked for.
   * @throws CommandError as {@link apply}
   */
  insertAll(ns: string, documents: Iterable<Uint8Array>): InsertedDocuments
  collection(ns: string): Collection | undefined
  /** By name; all, or of one database. */
  collections(db?: string): Collection[]
  /** Names of databases that have a collection, sorted. */
  databases(): string[]
  /** Everything, in bytes of our own format. */
  checkpoint(): CheckpointImage
  /** Becomes what `checkpoint` was taken of; what it held before is dropped. */
  restore(checkpoint: Uint8Array): void
  /** An engine of its own with the same contents. Costs no more than the number of collections and indexes. */
  clone(): StorageEngine
  /** Becomes a clone of another engine, for another node; what it held before is dropped. */
  adopt(other: StorageEngine): void
}
