import type { Random } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import type { RunningOperation } from '@shardlab/member'
import { inTurns, type NodeHost } from '@shardlab/node'
import type { ChunkEntry, CollectionPlacement, ShardKeyPattern } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import type {
  AutoSplitRequest,
  ClonedRange,
  CollectedDocuments,
  CollectionRanges,
  DeletedSome,
  OtherBoundRequest,
  RangeSink,
  RangeSizeAnswer,
  RangeSizeRequest,
  RangeSource,
  ReceivedRange,
  ReshardedCollection,
  ReshardingSink,
  ReshardingSource,
  SampledKeys,
  Size,
  SizedChunk,
  SplitVectorRequest,
} from '../collection-ranges.js'
import type { KeyRange } from '../key-range.js'
import { autoSplitVector } from './auto-split-vector.js'
import { otherBound } from './other-bound.js'
import { indexedShardKey, RangeCursor, rangeIndex } from './range-cursor.js'
import { rangeSizeOf } from './range-size.js'
import { ReshardedSink } from './resharded-sink.js'
import { ReshardedSource } from './resharded-source.js'
import { sampleKeys } from './sample-keys.js'
import { sizesOfChunks } from './sizes-of-chunks.js'
import { splitVector } from './split-vector.js'
import { StoredSink } from './stored-sink.js'
import { StoredSource } from './stored-source.js'

export class StoredRanges implements CollectionRanges {
  readonly #node: NodeHost
  readonly #collection: Collection

  constructor(node: NodeHost, collection: Collection) {
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

  chunkSizes(chunks: readonly ChunkEntry[], shardKey: ShardKeyPattern): Promise<SizedChunk[]> {
    return inTurns(this.#node, null, sizesOfChunks(this.#node, this.#collection, chunks, shardKey))
  }

  reportedSizes(): null {
    return null
  }

  splitVector(request: SplitVectorRequest, operation: RunningOperation | null): Promise<Uint8Array[]> {
    return inTurns(this.#node, operation, splitVector(this.#node, this.#collection, request))
  }

  autoSplitVector(request: AutoSplitRequest): Promise<Uint8Array[]> {
    return inTurns(this.#node, null, autoSplitVector(this.#node, this.#collection, request))
  }

  otherBound(request: OtherBoundRequest): Uint8Array {
    return otherBound(this.#collection, request)
  }

  extremeKey(shardKey: ShardKeyPattern, lowest: boolean): Uint8Array | null {
    const index = rangeIndex(this.#collection, shardKey)
    if (index === undefined) return null
    const cursor = new RangeCursor(index, { min: shardKey.globalMin, max: shardKey.globalMax }, !lowest)
    // Upper bounds are exclusive: the chunk below the second key holds one document.
    if (lowest) cursor.next()
    const recordId = cursor.next()
    return recordId < 0 ? null : indexedShardKey(this.#collection, index, shardKey.paths, recordId)
  }

  keyBetween(shardKey: ShardKeyPattern, min: string, max: string): Uint8Array | null {
    const index = rangeIndex(this.#collection, shardKey)
    const recordId = index?.scanKeys(min, max, false).next() ?? -1
    return recordId < 0 ? null : indexedShardKey(this.#collection, index!, shardKey.paths, recordId)
  }

  source(cloned: ClonedRange, maxChunkSizeBytes: number | null): RangeSource {
    return new StoredSource(this.#node, this.#collection, cloned, maxChunkSizeBytes)
  }

  sink(received: ReceivedRange): RangeSink {
    return new StoredSink(this.#node, this.#collection, received)
  }

  reshardingSource(resharded: ReshardedCollection): ReshardingSource {
    return new ReshardedSource(this.#node, this.#collection, resharded)
  }

  reshardingSink(collected: CollectedDocuments): ReshardingSink {
    return new ReshardedSink(this.#node, this.#collection, collected)
  }

  sampleKeys(
    source: CollectionPlacement,
    shardKey: ShardKeyPattern,
    size: number,
    random: Random,
  ): Promise<SampledKeys> {
    const sampled = { node: this.#node, collection: this.#collection, source, shardKey }
    return inTurns(this.#node, null, sampleKeys(sampled, size, random))
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
      this.#node.apply({
        ...{ op: 'd', ns: collection.ns, uuid: collection.uuid, object, id, session: null },
        fromMigrate: true,
      })
    }
    return { documents: recordIds.length, bytes, turns: 1 }
  }

  change(): never {
    throw new CommandError('CommandNotSupported', `${this.#collection.ns} is not measured`)
  }
}
