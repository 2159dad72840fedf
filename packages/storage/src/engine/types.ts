/** The storage interface of a node. The memory engine is the only implementation. */
import type { RawValue } from '@shardlab/bson'
import type { FilterNode, KeyPattern } from '@shardlab/query'
import type { IndexCursor } from '../tree/index-cursor.js'
import type { StringLabels } from '../collation/string-labels.js'
import type { KeyTuple, MultikeyPaths } from '../indexes/index-keys.js'
import type { WildcardPaths } from '../wildcard/wildcard-spec.js'
import type { InsertedDocuments } from '../records/inserted-documents.js'
import type { LogEntry } from '../log/log-entry.js'
import type { RecordScan, StoredRecord } from '../records/record-table.js'

export type { StoredRecord } from '../records/record-table.js'

/**
 * A range of index keys, as KeyStrings of whole keys or of leading fields. An absent bound is
 * unbounded. An inclusive bound of leading fields includes every key that begins with them.
 */
export interface KeyRange {
  readonly low?: string
  readonly lowInclusive?: boolean
  readonly high?: string
  readonly highInclusive?: boolean
}

/** How often plans used an index. Not part of the log: a restart resets it. */
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
  /** `partialFilterExpression`, parsed; null: none. */
  readonly partialRoot: FilterNode | null
  /** Whether a document has ever had an array on an indexed path. Never reset, as on the server. */
  readonly multikey: boolean
  /** For each field the path components that were arrays. */
  readonly multikeyPaths: MultikeyPaths
  /** The index's collation with all its fields; null: the simple collation. */
  readonly collation: Uint8Array | null
  /** The labels that replace strings in keys; null: no collation. */
  readonly labels: StringLabels | null
  /** Which paths a wildcard index contains; null for any other index. */
  readonly wildcard: WildcardPaths | null
  /** For a wildcard index: the paths that ever contained an array. */
  readonly arrayPaths: ReadonlySet<string>
  /** The `accesses` of $indexStats. */
  readonly usage: IndexUsage
  /** Number of keys. */
  readonly entries: number
  /** Bytes of keys and record ids: an estimate of what the server would report. */
  readonly sizeBytes: number
  /**
   * The document's keys; none if a partial or sparse index excludes it.
   * @throws CommandError as `KeyGenerator.generate`
   */
  keysOf(document: Uint8Array): readonly string[]
  /** The values of the keys, repeated ones included; undefined: missing field. */
  tuplesOf(document: Uint8Array): KeyTuple[]
  /** The key of such values, without a record id. */
  encode(tuple: KeyTuple): string
  /** Cursor over keys at or above `from` and below `to`; undefined: unbounded. */
  scanKeys(from: string | undefined, to: string | undefined, reverse: boolean): IndexCursor
  /**
   * Cursor over a range, in the index's order or reverse. The index must not change during the
   * scan.
   */
  seek(range: KeyRange, reverse?: boolean): IndexCursor
}

/** The limits of a capped collection. Manual page: core/capped-collections. */
export interface CappedLimits {
  readonly sizeBytes: number
  /** Null: unlimited. */
  readonly documents: number | null
}

export interface Collection {
  readonly ns: string
  readonly uuid: Uint8Array
  /** The options it was created with, as changed by collMod. */
  readonly options: Uint8Array
  readonly count: number
  /** Sum of the documents' BSON sizes. */
  readonly dataSizeBytes: number
  /** Null: not capped. */
  readonly capped: CappedLimits | null
  /**
   * The oldest records that exceed the limits of a capped collection, oldest first; never its
   * newest record. The node calls this after each insert and removes them by log entries of kind d.
   */
  cappedOverflow(): readonly StoredRecord[]
  /** Whether the option `clusteredIndex` is set: the natural order is then the order of `_id`. */
  readonly clustered: boolean
  /** The collation given at creation, with all its fields; null: the simple collation. */
  readonly defaultCollation: Uint8Array | null
  /** In order of creation, `_id_` first. */
  indexes(): readonly Index[]
  index(name: string): Index | undefined
  findById(id: RawValue): StoredRecord | undefined
  get(recordId: number): StoredRecord | undefined
  /**
   * Cursor over all documents in order of insertion, or reverse. The collection must not change
   * during the scan. With `after`, a forward scan starts after that record id, whether that record
   * still exists or not: a tailable cursor resumes by `collection.scan({ after: lastRecordId })` on
   * the live collection.
   */
  scan(options?: { reverse?: boolean; after?: number }): RecordScan
  /**
   * The collection as it is now, unaffected by later writes. Costs no more than its number of
   * indexes.
   */
  snapshot(): Collection
}

/** A checkpoint whose bytes are created on demand; later changes do not affect them. */
export interface CheckpointImage {
  readonly length: number
  /** @param target at least {@link length} bytes */
  copyTo(target: Uint8Array): void
}

export interface StorageEngine {
  /**
   * Applies one change. Checks first, so that after an error nothing has changed.
   * @returns the document before an update or a delete; null for other kinds
   * @throws CommandError DuplicateKey, NamespaceExists, NamespaceNotFound, IndexNotFound and the
   *   errors of invalid keys and specifications
   * @throws Error if the entry breaks an invariant of the log
   */
  apply(entry: LogEntry): Uint8Array | null
  /**
   * Inserts documents one by one, as entries of kind i do, until one fails.
   * @returns how many were inserted
   * @throws Error if one breaks an invariant of the log
   */
  insertEach(ns: string, documents: readonly Uint8Array[]): number
  /**
   * Inserts many documents at once, all or none of them, with the effect of one entry each. Copies
   * each document before it takes the next one from the iterable.
   * @throws CommandError as {@link apply}
   */
  insertAll(ns: string, documents: Iterable<Uint8Array>): InsertedDocuments
  collection(ns: string): Collection | undefined
  /** Sorted by name; all, or of one database. */
  collections(db?: string): Collection[]
  /** Names of databases that have a collection, sorted. */
  databases(): string[]
  /** Everything, in our own format. */
  checkpoint(): CheckpointImage
  /** Replaces the contents by those of the checkpoint. */
  restore(checkpoint: Uint8Array): void
  /**
   * An independent engine with the same contents. Costs no more than the number of collections and
   * indexes.
   */
  clone(): StorageEngine
  /** Replaces the contents by a clone of another node's engine. */
  adopt(other: StorageEngine): void
}
