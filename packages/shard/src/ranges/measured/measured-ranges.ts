/** Calculates as if the documents of each range were evenly spread. */
import type { Random, SizedRange } from '@shardlab/actor'
import { CommandError, fieldsOf, isEmptyDocument } from '@shardlab/bson'
import type { CollectionSizes, KeyBounds, NodeHost } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import { ShardKeyPattern, type CollectionPlacement } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import { shardKeyPrefixedIndex } from '../../shard-key/shard-key-prefixed-index.js'
import { fullEnough, keysPerPart, repositionedMax } from '../chunk-sizes.js'
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
  SplitVectorRequest,
} from '../collection-ranges.js'
import type { KeyRange } from '../key-range.js'
import { intervalOf } from './interval.js'
import type { MeasuredCollection } from './measured-collection.js'
import { cutsOf, MeasuredKeys } from './measured-keys.js'
import type { MeasuredOptions } from './measured-options.js'
import { MeasuredReshardingSink } from './measured-resharding-sink.js'
import { MeasuredReshardingSource } from './measured-resharding-source.js'
import { MeasuredSink } from './measured-sink.js'
import { measuredSizesOf } from './measured-sizes.js'
import { MeasuredSource } from './measured-source.js'
import { ownedRanges, rekeyOf, sampleMeasuredKeys } from './rekeyed-ranges.js'
import { boundAt, everything, positionOf, valuesWithin, type Interval, type Position } from './position.js'
import { sizeOf } from './sized-range.js'

export class MeasuredRanges implements CollectionRanges {
  readonly #node: NodeHost
  readonly #collection: Collection
  readonly #measured: MeasuredCollection
  readonly #options: MeasuredOptions

  constructor(node: NodeHost, collection: Collection, measured: MeasuredCollection, options: MeasuredOptions) {
    this.#options = options
    this.#node = node
    this.#collection = collection
    this.#measured = measured
  }

  get totals(): Size {
    const { documents, bytes } = this.#measured.sizes
    return { documents, bytes }
  }

  sizeOf({ min, max, estimate, sizeMaxBytes }: RangeSizeRequest): RangeSizeAnswer {
    const { documents, bytes } = this.#measured.sizes.sizeOf(intervalOf({ min, max }))
    const averageBytes = this.#averageBytes()
    const sizeBytes = estimate ? documents * averageBytes : bytes
    if (sizeMaxBytes === null || sizeBytes <= sizeMaxBytes) return { sizeBytes, isLarger: false }
    // The server stops counting at the document that exceeds the limit.
    return {
      sizeBytes: Math.min(sizeBytes, (Math.floor(sizeMaxBytes / averageBytes) + 1) * averageBytes),
      isLarger: true,
    }
  }

  chunkSizes(): Promise<never> {
    const why = `${this.#collection.ns} is measured: it has sizes of ranges instead of documents`
    return Promise.reject(new CommandError('CommandNotSupported', why))
  }

  reportedSizes(bounds: KeyBounds | null, shardKey: ShardKeyPattern | null): CollectionSizes {
    return measuredSizesOf(this.#collection.ns, this.#measured.sizes, bounds, shardKey)
  }

  async splitVector(request: SplitVectorRequest): Promise<Uint8Array[]> {
    const { keyPattern, force = false, maxSplitPoints = null } = request
    const shardKey = this.#shardKey(keyPattern)
    const { documents, bytes } = this.totals
    const maxChunkSizeBytes = force ? bytes : (request.maxChunkSizeBytes ?? 0)
    if (maxChunkSizeBytes <= 0 && (documents > 0 || request.refuseEmpty !== false))
      throw new CommandError('InvalidOptions', 'need to specify the desired max chunk size')
    if (bytes < maxChunkSizeBytes || documents === 0) return []
    const keys = this.#keys(shardKey, {
      min: endOf(request.min) ?? everything.min,
      max: endOf(request.max) ?? everything.max,
    })
    if (keys.count === 0)
      throw new CommandError(
        'OperationFailed',
        "can't open a cursor to scan the range (desired range is possibly empty)",
      )
    const part = force ? Math.floor(keys.count / 2) : keysPerPart(maxChunkSizeBytes, this.totals, request)
    const most = maxSplitPoints === null || maxSplitPoints === 0 ? Number.POSITIVE_INFINITY : maxSplitPoints
    return cutsOf(keys, { first: part, others: part + 1, most }).map((n) => boundAt(shardKey, keys.at(n)))
  }

  async autoSplitVector({ shardKey, range, maxChunkSizeBytes, pointsMax }: AutoSplitRequest): Promise<Uint8Array[]> {
    const { documents, bytes } = this.totals
    if (documents === 0 || bytes < maxChunkSizeBytes) return []
    const keys = this.#keys(shardKey, intervalOf(range))
    if (keys.hasOneKey) return []
    const cuts = fullChunks(keys, Math.floor(maxChunkSizeBytes / this.#averageBytes()), pointsMax)
    return (pointsMax === null ? cuts : cuts.slice(0, pointsMax)).map((n) => boundAt(shardKey, keys.at(n)))
  }

  otherBound({ shardKey, chunk, maxChunkSizeBytes, reverse }: OtherBoundRequest): Uint8Array {
    const whole = reverse ? chunk.min : chunk.max
    const { documents, bytes } = this.totals
    if (documents === 0 || bytes < maxChunkSizeBytes) return whole
    const perChunk = Math.floor(maxChunkSizeBytes / this.#averageBytes())
    const keys = this.#keys(shardKey, intervalOf(chunk))
    const first = firstChange(keys, perChunk, reverse)
    if (first === null) return whole
    const bound = (n: number): Uint8Array => boundAt(shardKey, keys.at(reverse ? keys.count - 1 - n : n))
    const rest = keys.count - first - 1
    if (rest >= perChunk * fullEnough) return bound(first)
    const share = perChunk - Math.floor((perChunk - rest) / 2)
    if (rest < perChunk - share) return whole
    const fairer = firstChange(keys, share, reverse)
    return fairer === null ? whole : bound(fairer)
  }

  extremeKey(shardKey: ShardKeyPattern, lowest: boolean): Uint8Array | null {
    const keys = this.#keys(shardKey, everything)
    const n = lowest ? 1 : keys.count - 1
    return n < 0 || n >= keys.count ? null : boundAt(shardKey, keys.at(n))
  }

  /** Documents must have been written to the interval. */
  keyBetween(shardKey: ShardKeyPattern, min: string, max: string): Uint8Array {
    return shardKey.boundDocument(valuesWithin(shardKey, min, max))
  }

  source(cloned: ClonedRange, maxChunkSizeBytes: number | null): RangeSource {
    return new MeasuredSource(this.#node, this.#collection, this.#measured, cloned, maxChunkSizeBytes)
  }

  sink({ stopping }: ReceivedRange): RangeSink {
    return new MeasuredSink(
      this.#node,
      this.#collection.ns,
      this.#measured,
      stopping,
      this.#options.cloneBytesPerSecond,
    )
  }

  reshardingSource(resharded: ReshardedCollection): ReshardingSource {
    return new MeasuredReshardingSource(this.#node, this.#collection, this.#measured, resharded, this.#options)
  }

  reshardingSink({ stopping }: CollectedDocuments): ReshardingSink {
    return new MeasuredReshardingSink(this.#node, this.#measured, stopping, this.#options.cloneBytesPerSecond)
  }

  async sampleKeys(
    source: CollectionPlacement,
    shardKey: ShardKeyPattern,
    size: number,
    random: Random,
  ): Promise<SampledKeys> {
    const { ns } = this.#collection
    const owned = ownedRanges(this.#measured.sizes, source, this.#node.context.address)
    const ranges = rekeyOf(this.#options)({ ns, from: source.shardKey, to: shardKey, ranges: owned, isGrowth: false })
    return sampleMeasuredKeys(ranges, shardKey, size, random)
  }

  /** At once, whatever `most` is: it determines the turns. */
  deleteSome(range: KeyRange, shardKey: ShardKeyPattern, most: number): DeletedSome | null {
    if (shardKeyPrefixedIndex(this.#collection, shardKey.document) === undefined) return null
    const { documents, bytes } = sizeOf(this.#measured.take(intervalOf(range)))
    return { documents, bytes, turns: Math.ceil(documents / most) }
  }

  change(ranges: readonly SizedRange[]): Size {
    return this.#measured.change(ranges)
  }

  #averageBytes(): number {
    const { documents, bytes } = this.totals
    return Math.max(1, Math.floor(bytes / Math.max(1, documents)))
  }

  #keys({ fields }: ShardKeyPattern, interval: Interval): MeasuredKeys {
    return new MeasuredKeys(this.#measured.sizes.within(interval), fields.length)
  }

  #shardKey(keyPattern: Uint8Array): ShardKeyPattern {
    const shardKey = ShardKeyPattern.parse(keyPattern, { compoundHashed: true })
    if (shardKeyPrefixedIndex(this.#collection, shardKey.document) === undefined)
      throw new CommandError('IndexNotFound', `couldn't find index over splitting key ${formatDocument(keyPattern)}`)
    return shardKey
  }
}

/** Null: an end of the key space. */
function endOf(bound: Uint8Array | null): Position | null {
  return bound === null || isEmptyDocument(bound) || fieldsOf(bound).length === 0 ? null : positionOf(bound)
}

/** Chooses split points as `stored/auto-split-vector.ts` does among documents. */
function fullChunks(keys: MeasuredKeys, perChunk: number, pointsMax: number | null): number[] {
  const most = pointsMax === null ? Number.POSITIVE_INFINITY : pointsMax + 1
  const cuts = cutsOf(keys, { first: Math.max(1, perChunk - 1), others: perChunk, most })
  const rest = cuts.length === most ? 0 : cuts.length === 0 ? keys.count : keys.count - 1 - cuts.at(-1)!
  if (rest >= perChunk * fullEnough || cuts.length === 0) return cuts
  const repositioned = Math.min(repositionedMax, cuts.length)
  const perNewChunk = perChunk - Math.trunc((perChunk - rest) / (repositioned + 1))
  if (rest < perChunk - perNewChunk) return cuts.slice(0, -1)
  const kept = cuts.slice(0, cuts.length - repositioned)
  return [
    ...kept,
    ...cutsOf(keys, { from: kept.at(-1) ?? 0, first: perNewChunk - 1, others: perNewChunk, most: repositioned }),
  ]
}

/**
 * The first document at or after `count`, from the chosen end, with another key than the first;
 * null: none.
 */
function firstChange(keys: MeasuredKeys, count: number, reverse: boolean): number | null {
  const n = Math.max(1, count - 1)
  if (n >= keys.count) return null
  if (!reverse) {
    const sameUntil = keys.nextKey(0)
    const found = Math.max(n, sameUntil)
    return found < keys.count ? found : null
  }
  const last = keys.previousKey(keys.count - 1)
  const found = Math.min(keys.count - 1 - n, last)
  return found < 0 ? null : keys.count - 1 - found
}
