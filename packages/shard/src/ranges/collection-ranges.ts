/**
 * Operations on ranges of shard keys. `stored/` implements them on documents, `measured/` on sizes
 * without documents, for simulated clusters. No other code distinguishes the two.
 */
import type { CancelSignal, Random, ReplyOf, RequestOf, ReshardingProvenance, SizedRange } from '@shardlab/actor'
import type { RunningOperation } from '@shardlab/member'
import type { CollectionSizes, Entrant, KeyBounds } from '@shardlab/node'
import type { ChunkEntry, CollectionPlacement, ShardKeyPattern } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import type { CloneBatch, ModsBatch } from '../cloning/document-feed.js'
import type { KeyRange } from './key-range.js'

export interface Size {
  readonly documents: number
  readonly bytes: number
}

export const noSize: Size = { documents: 0, bytes: 0 }

export interface SizedChunk extends Size {
  /** KeyStrings of its bounds. */
  readonly key: string
  readonly end: string
}

export type RangeSizeRequest = Omit<RequestOf<'shard.measure-range'>, 'ns'>
export type RangeSizeAnswer = Omit<ReplyOf<'shard.measure-range'>, 'error'>

export interface SplitVectorRequest {
  readonly keyPattern: Uint8Array
  /** Bounds in key space, hashed fields hashed; `max` is exclusive. Null or `{}`: its ends. */
  readonly min: Uint8Array | null
  readonly max: Uint8Array | null
  /** One split point in the middle, whatever the size. Default false. */
  readonly force?: boolean
  /** Parts get half of it. Not needed with `force`. */
  readonly maxChunkSizeBytes?: number | null
  /** Null or 0: any number. */
  readonly maxSplitPoints?: number | null
  /** Most keys in a part; 0: any number. Default 250,000. */
  readonly maxChunkObjects?: number | null
  /**
   * Whether an empty collection needs a size: `splitVectorRefusesEmptyCollections`. Default true.
   */
  readonly refuseEmpty?: boolean
}

export interface AutoSplitRequest {
  readonly shardKey: ShardKeyPattern
  readonly range: KeyRange
  readonly maxChunkSizeBytes: number
  /** Null: any number. */
  readonly pointsMax: number | null
}

/** The range begins at the lower bound of `chunk`, or with `reverse` ends at its upper bound. */
export interface OtherBoundRequest {
  readonly shardKey: ShardKeyPattern
  readonly chunk: KeyRange
  readonly maxChunkSizeBytes: number
  readonly reverse: boolean
}

/** A migration's range on the donor. */
export interface ClonedRange {
  readonly ns: string
  readonly uuid: Uint8Array
  readonly shardKey: ShardKeyPattern
  readonly range: KeyRange
}

/** `sizes`: packed ranges instead of documents. */
type MaybeSized<Batch> = Batch & { readonly sizes?: Uint8Array }

/** The donor's end of a migration: a range as of the start, then its changes. */
export interface RangeSource {
  readonly collection: Collection
  readonly waitingChanges: number
  /**
   * @throws CommandError when the migration cannot continue: 146 ExceededMemoryLimit; 11601
   *   Interrupted
   */
  check(): void
  /** Later changes do not go to the recipient. */
  close(): void
  /**
   * @param documentsMax 0: any number.
   * @throws CommandError 96 OperationFailed for a batch out of turn
   */
  clone(batch: number, documentsMax: number): MaybeSized<CloneBatch>
  /** @throws CommandError as {@link clone} */
  mods(batch: number): MaybeSized<ModsBatch>
}

export type ReceivedClone = Pick<ReplyOf<'shard.migrate-clone'>, 'documents' | 'sizes'>
export type ReceivedMods = Pick<ReplyOf<'shard.transfer-mods'>, 'deleted' | 'reloaded' | 'sizes'>

/** The recipient's end of a migration. The caller flushes the node after each call. */
export interface RangeSink {
  /**
   * @returns the size of the batch
   * @throws CommandError 16976 when a document outside of the range has the `_id`; 11000
   *   DuplicateKey; 26 NamespaceNotFound; 11601 Interrupted
   */
  store(batch: ReceivedClone): Promise<Size>
  /**
   * @returns the size of what is new or changed
   * @throws CommandError as {@link store}
   */
  apply(mods: ReceivedMods): Size
}

/** A migration's range on the recipient. */
export interface ReceivedRange {
  readonly range: KeyRange
  readonly shardKey: ShardKeyPattern
  /** Aborted when the recipient stops. */
  readonly stopping: CancelSignal
}

/** A collection that is resharded, on a donor. */
export interface ReshardedCollection {
  readonly ns: string
  /** Before and after. */
  readonly source: CollectionPlacement
  readonly target: CollectionPlacement
  readonly recipients: readonly string[]
}

/** The donor's end of a resharding: what each recipient gets under the new key, then changes. */
export interface ReshardingSource {
  /** As of the start. */
  readonly collection: Collection
  /** Of the whole collection at the start, orphans included, as in the server. */
  readonly size: Size
  /** Whether all recipients have everything of the start. */
  readonly isDrained: boolean
  /** @throws CommandError when the resharding cannot continue */
  check(): void
  /** Later changes are not sent. */
  close(): void
  /** @throws CommandError 94 NotYetInitialized: not a recipient; otherwise of a `RangeSource` */
  clone(recipient: string, batch: number, documentsMax: number): MaybeSized<CloneBatch>
  /** @throws CommandError as {@link clone} */
  mods(recipient: string, batch: number): MaybeSized<ModsBatch>
}

/** The temporary collection of a resharding, on a recipient. */
export interface CollectedDocuments {
  /** Assigns documents to donors. */
  readonly source: CollectionPlacement
  /** Aborted when the recipient stops. */
  readonly stopping: CancelSignal
}

/** The recipient's end of a resharding. The caller flushes the node after each call. */
export interface ReshardingSink {
  readonly inserted: number
  readonly updated: number
  readonly deleted: number
  /** Documents that had to wait for the removal of another one. */
  readonly waits: number
  /**
   * @returns the size of the batch
   * @throws CommandError 26 NamespaceNotFound; 11000 DuplicateKey; 14031 OutOfDiskSpace; 11601
   *   Interrupted
   */
  store(donor: string, batch: ReceivedClone): Promise<Size>
  /**
   * @returns the number of changes
   * @throws CommandError as {@link store}
   */
  apply(donor: string, mods: ReceivedMods): number
  /** Stores waiting documents without conflicts. */
  retry(): void
  /**
   * Stores all waiting documents.
   * @throws CommandError 11000 DuplicateKey for a remaining conflict
   */
  finish(): void
}

/** Weights of samples are below it. */
export const sampleWeightsEnd = 2 ** 32

export interface SampledKeys {
  /** Chunk bounds under the new key. */
  readonly keys: readonly Uint8Array[]
  readonly weights: readonly number[]
}

export interface DeletedSome extends Size {
  /** Batches, and so pauses, that the range deleter needs for them. */
  readonly turns: number
}

export interface CollectionRanges {
  /** Of all documents, owned or not. */
  readonly totals: Size
  /** @throws CommandError 96 OperationFailed without an index that begins with the shard key */
  sizeOf(request: RangeSizeRequest): RangeSizeAnswer
  /**
   * The chunks that have documents.
   * @param chunks in key order
   * @throws CommandError 27 IndexNotFound, 115 CommandNotSupported
   */
  chunkSizes(chunks: readonly ChunkEntry[], shardKey: ShardKeyPattern): Promise<SizedChunk[]>
  /**
   * Sizes for statistics; null: the node counts the documents itself.
   * @throws CommandError 115 CommandNotSupported
   */
  reportedSizes(bounds: KeyBounds | null, shardKey: ShardKeyPattern | null): CollectionSizes | null
  /**
   * @param operation that asks for it; null: background work
   * @throws CommandError as `stored/split-vector.ts`
   */
  splitVector(request: SplitVectorRequest, operation: RunningOperation | null): Promise<Uint8Array[]>
  /** @throws CommandError as `stored/auto-split-vector.ts` */
  autoSplitVector(request: AutoSplitRequest): Promise<Uint8Array[]>
  otherBound(request: OtherBoundRequest): Uint8Array
  /** The second lowest key of all documents, or the highest; null: none. */
  extremeKey(shardKey: ShardKeyPattern, lowest: boolean): Uint8Array | null
  /** The shard key of a document between two KeyStrings, `max` exclusive; null: none. */
  keyBetween(shardKey: ShardKeyPattern, min: string, max: string): Uint8Array | null
  /**
   * Follows changes from now on. Await `catchUpKeys` before.
   * @throws CommandError 27 IndexNotFound; 153 ChunkTooBig unless `maxChunkSizeBytes` is null
   */
  source(cloned: ClonedRange, maxChunkSizeBytes: number | null): RangeSource
  sink(received: ReceivedRange): RangeSink
  /**
   * Follows changes from now on. Await `catchUpKeys` before.
   * @throws CommandError 61 ShardKeyNotFound
   */
  reshardingSource(resharded: ReshardedCollection): ReshardingSource
  reshardingSink(collected: CollectedDocuments): ReshardingSink
  /**
   * A random sample of the documents that the shard owns.
   * @throws CommandError 61 ShardKeyNotFound
   */
  sampleKeys(source: CollectionPlacement, shardKey: ShardKeyPattern, size: number, random: Random): Promise<SampledKeys>
  /** null: no index begins with the shard key. The caller flushes the node. */
  deleteSome(range: KeyRange, shardKey: ShardKeyPattern, most: number): DeletedSome | null
  /**
   * Adds documents without writing any, or deletes those of ranges with a negative size.
   * @returns the size of all that was added or deleted
   * @throws CommandError 115 CommandNotSupported for a collection that stores documents
   */
  change(ranges: readonly SizedRange[]): Size
}

export interface RangeStore {
  /** Call once, after the node has read its disk. */
  start(): void
  of(collection: Collection): CollectionRanges
  /** Of the temporary collection in which `ns` is collected under a new key. */
  ofTemporary(ns: string, collection: Collection): CollectionRanges
  /** Calls back with the UUID of each collection whose size changes without a write to the node. */
  watchSizes(changed: (uuid: Uint8Array) => void): void
  /**
   * @throws CommandError 115 CommandNotSupported for a command that needs documents, if there are
   *   none
   */
  checkCommand(ns: string, entrant: Entrant): void
  /** @throws CommandError 115 CommandNotSupported for documents that cannot be copied */
  checkCopied(ns: string, provenance: ReshardingProvenance): void
}
