/** The storage interface of a node. The memory engine is the only implementation. */
import type { RawValue } from '@shardlab/bson'
import type { FilterNode, KeyPattern } from '@shardlab/query'
import type { KeyCursor } from '../tree/index-cursor.js'
import type { StringLabels } from '../collation/string-labels.js'
import type { KeyTuple, MultikeyPaths } from '../indexes/index-keys.js'
import type { IndexFilters } from '../planner/index-filters.js'
import type { WildcardPaths } from '../wildcard/wildcard-spec.js'
import type { InsertedDocuments } from '../records/inserted-documents.js'
import type { UndoLog } from '../history/undo-log.js'
import type { LogEntry } from '../log/log-entry.js'
import type { DocumentScan, StoredRecord } from '../records/record-table.js'

export type { StoredRecord } from '../records/record-table.js'

/**
 * KeyStrings of whole keys or of leading fields. An absent bound is unbounded. An inclusive bound
 * of leading fields includes every key that begins with them.
 */
export interface KeyRange {
  readonly low?: string
  readonly lowInclusive?: boolean
  readonly high?: string
  readonly highInclusive?: boolean
}

/** Uses by plans. Not part of the log: a restart resets it. */
export interface IndexUsage {
  ops: number
  /** Since the epoch. */
  readonly sinceMs: number
}

export interface Index {
  /** `{ v, key, name, … }`, as stored. */
  readonly spec: Uint8Array
  readonly name: string
  readonly key: Uint8Array
  readonly pattern: KeyPattern
  readonly unique: boolean
  readonly sparse: boolean
  readonly hidden: boolean
  /** Null: not a partial index. */
  readonly partialFilter: Uint8Array | null
  /** {@link partialFilter}, parsed. */
  readonly partialRoot: FilterNode | null
  /** Whether a document has ever had an array on an indexed path. Never reset, as on the server. */
  readonly multikey: boolean
  readonly multikeyPaths: MultikeyPaths
  /** With all its fields; null: the simple collation. */
  readonly collation: Uint8Array | null
  /** Replace the strings in keys; null: no collation. */
  readonly labels: StringLabels | null
  /** Null: not a wildcard index. */
  readonly wildcard: WildcardPaths | null
  /** For a wildcard index: the paths that ever contained an array. */
  readonly arrayPaths: ReadonlySet<string>
  /** For $indexStats. */
  readonly usage: IndexUsage
  readonly entries: number
  /** Keys and record ids: an estimate of the server's figure. */
  readonly sizeBytes: number
  /**
   * Empty if a partial or sparse index excludes the document.
   * @throws CommandError as `KeyGenerator.generate`
   */
  keysOf(document: Uint8Array): readonly string[]
  /** Including repeated keys. */
  tuplesOf(document: Uint8Array): KeyTuple[]
  /** Without a record id. */
  encode(tuple: KeyTuple): string
  /** Keys at or above `from` and below `to`; undefined: unbounded. */
  scanKeys(from: string | undefined, to: string | undefined, reverse: boolean): KeyCursor
  /** The index must not change during the scan. */
  seek(range: KeyRange, reverse?: boolean): KeyCursor
}

/** Prepares an index. Commands may change the collection between two steps. */
export interface IndexBuild {
  /**
   * Adds the keys of some documents.
   * @returns about how many; 0: the index can now be created in little time
   * @throws CommandError DuplicateKey and the errors of index keys
   */
  step(): number
  /** Call it when the index is created or given up. */
  close(): void
}

/** Manual page: core/capped-collections. */
export interface CappedLimits {
  readonly sizeBytes: number
  /** Null: unlimited. */
  readonly documents: number | null
}

export interface ScanOptions {
  /** Default: false. */
  readonly reverse?: boolean
  /**
   * The record id before the first one of a forward scan, even if that record is gone: a tailable
   * cursor resumes by `scan({ after: lastRecordId })` on the live collection. Default: none.
   */
  readonly after?: number
  /** The greatest record id, if it comes from {@link Collection.scanBounds}. Default: none. */
  readonly until?: number
}

export interface Collection {
  readonly ns: string
  readonly uuid: Uint8Array
  /** As changed by collMod. */
  readonly options: Uint8Array
  readonly count: number
  /** Of the documents as BSON. */
  readonly dataSizeBytes: number
  /** Null: not capped. */
  readonly capped: CappedLimits | null
  /**
   * The records beyond the limits of a capped collection, oldest first; never its newest record.
   * The node calls this after each insert and removes them by log entries of kind d.
   */
  cappedOverflow(): readonly StoredRecord[]
  /** Whether `clusteredIndex` is set: the natural order is then the order of `_id`. */
  readonly clustered: boolean
  /** With all its fields; null: the simple collation. */
  readonly defaultCollation: Uint8Array | null
  /** In order of creation, `_id_` first; none: a listing, see `listingOf`. */
  indexes(): readonly Index[]
  index(name: string): Index | undefined
  /** Shared with snapshots. */
  readonly indexFilters: IndexFilters
  findById(id: RawValue): StoredRecord | undefined
  get(recordId: number): StoredRecord | undefined
  /** Called when a document that an index has found is read. Absent: it needs no check. */
  checkRead?(document: Uint8Array): void
  /** In order of insertion, or reverse. The collection must not change during the scan. */
  scan(options?: ScanOptions): DocumentScan
  /**
   * Bounds of the records that can match, also of reverse scans. Absent: the order of the records
   * says nothing about their contents.
   */
  scanBounds?(root: FilterNode): ScanOptions
  /** Unaffected by later writes. Costs no more than the number of indexes. */
  snapshot(): Collection
  /** How many inserted documents an index has deferred, at most. */
  readonly documentsWithoutKeys: number
  /**
   * Adds deferred keys to an index.
   * @returns about how many; 0: none are deferred
   */
  addKeys(): number
  /**
   * For an index that a log entry with this specification will create. The entry does not need it:
   * without it the index is built at once.
   */
  startIndexBuild(specification: Uint8Array, sinceMs: number): IndexBuild
}

/** A checkpoint whose bytes are created on demand. Later changes do not affect them. */
export interface CheckpointImage {
  readonly length: number
  /** @param target at least {@link length} bytes */
  copyTo(target: Uint8Array): void
  /** The same bytes, also in later turns. */
  pieces(): Iterable<Uint8Array>
}

export interface StorageEngine {
  /**
   * Checks first: after an error nothing has changed.
   * @returns the document before an update or a delete; null for other kinds
   * @throws CommandError DuplicateKey, NamespaceExists, NamespaceNotFound, IndexNotFound and the
   *   errors of invalid keys and specifications
   * @throws Error if the entry breaks an invariant of the log
   */
  apply(entry: LogEntry): Uint8Array | null
  /**
   * Inserts until a document fails.
   * @returns how many were inserted
   * @throws Error if one breaks an invariant of the log
   */
  insertEach(ns: string, documents: readonly Uint8Array[]): number
  /**
   * All documents or none, with the effect of one entry each. Copies each document before it takes
   * the next one from the iterable.
   * @throws CommandError as {@link apply}
   */
  insertAll(ns: string, documents: Iterable<Uint8Array>): InsertedDocuments
  /** Where changes are recorded, for {@link undoTo} on a clone. Null: nowhere. */
  undoLog: UndoLog | null
  /**
   * Call it after {@link insertEach} and {@link insertAll}.
   * @param ts of the first document; each of the others has the next increment
   */
  recordInserts(ns: string, ts: LogEntry['ts'], count: number): void
  /**
   * Undoes recorded changes.
   * @param log of the engine that was cloned
   * @param from the data includes the changes up to this time
   * @param time not before the log's horizon
   */
  undoTo(log: UndoLog, from: LogEntry['ts'], time: LogEntry['ts']): void
  collection(ns: string): Collection | undefined
  /** Sorted by name. `db` undefined: of all databases. */
  collections(db?: string): Collection[]
  /** Of documents whose collection was dropped, since the engine was created. */
  readonly droppedBytes: number
  /** Databases that have a collection, sorted. */
  databases(): string[]
  checkpoint(): CheckpointImage
  restore(checkpoint: Uint8Array): void
  /**
   * Costs a little for each collection, and more for those that have changed since the last clone.
   * A clone copies a collection when it is used first.
   */
  clone(): StorageEngine
  /**
   * Whether changes of collections with changeStreamPreAndPostImages are recorded. Default true.
   * Not in a clone for a transaction: its changes are recorded when it commits.
   */
  keepsPreImages: boolean
  /** Deletes documents of `config.system.preimages`. */
  removePreImages(isExpired: (image: Uint8Array) => boolean): void
  /** Replaces the contents with a clone of the other engine. */
  adopt(other: StorageEngine): void
}
