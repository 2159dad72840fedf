/** What a shard asks of the documents of a collection: it does not see whether they are there or measured. */
import { DocumentWriter, findField } from '@shardlab/bson'
import type { StorageNode } from '@shardlab/node'
import type { ShardKeyPattern } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import { autoSplitVector, type AutoSplitRequest } from './stored/auto-split-vector.js'
import { extremeKey } from '../auto-split/top-chunk.js'
import { splitVector, type SplitVectorRequest } from './stored/split-vector.js'
import type { CloneBatch, ModsBatch } from '../cloning/document-feed.js'
import { ClonerSource, type ClonedRange } from './stored/cloner-source.js'
import { RangeCursor, rangeIndex, type KeyRange } from './key-range.js'
import { otherBound } from './stored/other-bound.js'
import { rangeSizeOf, type RangeSizeAnswer, type RangeSizeRequest } from './stored/range-size.js'
import type { Size } from './measured/sized-range.js'

/** Where a range is to end that begins at the lower, or with `reverse` the upper end of a chunk. */
export interface OtherBoundRequest {
  readonly shardKey: ShardKeyPattern
  readonly chunk: KeyRange
  readonly maxChunkSizeBytes: number
  readonly reverse: boolean
}

/** What a donor hands over, and what has changed in the meantime. */
export interface RangeSource {
  /** What the recipient needs to know of the collection. */
  readonly collection: Collection
  /** Documents that have changed and that the recipient does not have yet. */
  readonly waitingChanges: number
  /** Why the migration cannot go on. @throws CommandError 146 ExceededMemoryLimit; 11601 Interrupted */
  check(): void
  /** The migration is decided: what changes from now on is none of the recipient's business. */
  close(): void
  /** `sizes`: ranges instead of documents. @throws CommandError 96 OperationFailed for a batch out of turn */
  clone(batch: number, documentsMax: number): CloneBatch & { readonly sizes?: Uint8Array }
  mods(batch: number): ModsBatch & { readonly sizes?: Uint8Array }
}

export interface DeletedSome extends Size {
  /** In how many turns of a range deletion. */
  readonly turns: number
}

export interface CollectionRanges {
  /** Of all documents, whoever owns them. */
  readonly totals: Size
  /** @throws CommandError 96 OperationFailed without an index that begins with the shard key */
  sizeOf(request: RangeSizeRequest): RangeSizeAnswer
  /** @throws CommandError as {@link splitVector} */
  splitVector(request: SplitVectorRequest): Uint8Array[]
  /** @throws CommandError as {@link autoSplitVector} */
  autoSplitVector(request: AutoSplitRequest): Uint8Array[]
  otherBound(request: OtherBoundRequest): Uint8Array
  /** The second lowest key of all documents, or the highest one; null when there is none. */
  extremeKey(shardKey: ShardKeyPattern, lowest: boolean): Uint8Array | null
  /** From now on changes are followed. @throws CommandError 27 IndexNotFound; 153 ChunkTooBig unless `maxChunkSizeBytes` is null */
  source(cloned: ClonedRange, maxChunkSizeBytes: number | null): RangeSource
  /** Deletes documents of a range; null without an index by which they are found. {@link StorageNode.flush} follows. */
  deleteSome(range: KeyRange, shardKey: ShardKeyPattern, most: number): DeletedSome | null
}

/** Of documents that are there. */
export class StoredRanges implements CollectionRanges {
  readonly #node: StorageNode
  readonly #collection: Collection

  constructor(node: StorageNode, collection: Collection) {
    this.#node = node
    this.#collection = collection
  }

  get totals(): Size {
    const { count, dataSizeBytes } = this.#collection
    return { documents: count, bytes: dataSizeBytes }
  }

  sizeOf(request: RangeSizeRequest): RangeSizeAnswer {
    return rangeSizeOf(this.#collection, request)
  }

  splitVector(request: SplitVectorRequest): Uint8Array[] {
    return splitVector(this.#collection, request)
  }

  autoSplitVector(request: AutoSplitRequest): Uint8Array[] {
    return autoSplitVector(this.#collection, this.#collection.ns, request)
  }

  otherBound({ shardKey, chunk, maxChunkSizeBytes, reverse }: OtherBoundRequest): Uint8Array {
    return otherBound(this.#collection, shardKey, chunk, maxChunkSizeBytes, reverse)
  }

  extremeKey(shardKey: ShardKeyPattern, lowest: boolean): Uint8Array | null {
    return extremeKey(this.#collection, shardKey, lowest)
  }

  source(cloned: ClonedRange, maxChunkSizeBytes: number | null): RangeSource {
    return new ClonerSource(this.#node, cloned, maxChunkSizeBytes)
  }

  deleteSome(range: KeyRange, shardKey: ShardKeyPattern, most: number): DeletedSome | null {
    const collection = this.#collection
    const index = rangeIndex(collection, shardKey)
    if (index === undefined) return null
    const cursor = new RangeCursor(index, range)
    const recordIds: number[] = []
    for (let recordId = cursor.next(); recordId >= 0; recordId = cursor.next()) {
      recordIds.push(recordId)
      if (recordIds.length >= most) break
    }
    let bytes = 0
    for (const recordId of recordIds) {
      const { document } = collection.get(recordId)!
      const id = findField(document, '_id')!
      bytes += document.length
      const object = new DocumentWriter(64).value('_id', id).finish()
      this.#node.apply({ op: 'd', ns: collection.ns, uuid: collection.uuid, object, id, session: null })
    }
    return { documents: recordIds.length, bytes, turns: 1 }
  }
}
