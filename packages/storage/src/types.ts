/** What a node sees of its storage. The memory engine is the one implementation; a durable one may follow. */
import type { RawValue } from '@shardlab/bson'
import type { FilterNode, KeyPattern } from '@shardlab/query'
import type { IndexCursor } from './index-cursor.js'
import type { MultikeyPaths } from './index-keys.js'
import type { LogEntry } from './log-entry.js'
import type { RecordScan, StoredRecord } from './record-table.js'

export type { StoredRecord } from './record-table.js'

/** What an entry of kind i, u or d did. Both null for other kinds. */
export interface ApplyResult {
  /** The record as it is now; null after a delete. */
  readonly record: StoredRecord | null
  /** The document before the change. */
  readonly preImage: Uint8Array | null
}

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
  /** Number of keys. */
  readonly entries: number
  /** Bytes of keys and record ids: an estimate of what the server would report. */
  readonly sizeBytes: number
  /** The document's keys; none when a partial or sparse index leaves it out. @throws CommandError as `KeyGenerator.generate` */
  keysOf(document: Uint8Array): readonly string[]
  /** Cursor over keys from `from` on and below `to`; absent bounds are open. */
  scanKeys(from: string | undefined, to: string | undefined, reverse: boolean): IndexCursor
  /** Cursor over a range, ascending or against the index's order. The index must not be written meanwhile. */
  seek(range: KeyRange, reverse?: boolean): IndexCursor
}

export interface Collection {
  readonly ns: string
  readonly uuid: Uint8Array
  /** The options it was created with and collMod changed. */
  readonly options: Uint8Array
  readonly count: number
  /** Sum of the documents' BSON sizes. */
  readonly dataSizeBytes: number
  /** In order of creation, `_id_` first. */
  indexes(): readonly Index[]
  index(name: string): Index | undefined
  findById(id: RawValue): StoredRecord | undefined
  get(recordId: number): StoredRecord | undefined
  /** Cursor over all documents in order of insertion, or against it. The collection must not be written meanwhile. */
  scan(options?: { reverse?: boolean }): RecordScan
  /** The collection as it is now, for reading while writers go on. Costs no more than its number of indexes. */
  snapshot(): Collection
}

export interface StorageEngine {
  /**
   * Makes one change. Checks first, so that after an error nothing has changed.
   * @throws CommandError DuplicateKey, NamespaceExists, NamespaceNotFound, IndexNotFound and what keys and
   *   specifications are refused with. @throws Error when the entry breaks an invariant of the log.
   */
  apply(entry: LogEntry): ApplyResult
  collection(ns: string): Collection | undefined
  /** By name; all, or of one database. */
  collections(db?: string): Collection[]
  /** Names of databases that have a collection, sorted. */
  databases(): string[]
  /** Everything, in bytes of our own format. */
  checkpoint(): Uint8Array
  /** Becomes what `checkpoint` was taken of; what it held before is dropped. */
  restore(checkpoint: Uint8Array): void
  /** An engine of its own with the same contents. Costs no more than the number of collections and indexes. */
  clone(): StorageEngine
}
