/** Where a range of a collection can be split. Server: split_vector.cpp. */
import { CommandError, fieldsOf, keyStringOfDocument } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { Collection, Index } from '@shardlab/storage'
import { shardKeyPrefixedIndex } from '../../shard-key/shard-key-prefixed-index.js'
import { keysPerPart } from '../chunk-sizes.js'
import type { SplitVectorRequest } from '../collection-ranges.js'
import { indexedShardKey, shardKeyPart } from './range-cursor.js'

/** All split points together are no larger than a document, each with what an array adds to it. */
const resultBytesMax = 16 * 1024 * 1024
const bytesPerArrayElement = 2

/**
 * Shard keys, ascending, at which the range can be split into parts of about half the size that chunks may have. Never one in the midst of
 * documents with equal keys; none when all keys of the range are equal or the whole collection is smaller than one chunk.
 * Sizes are estimated from the average document of the collection.
 * @returns bound documents in the order of the pattern
 * @throws CommandError 27 IndexNotFound when no index begins with the pattern; 72 InvalidOptions without a size; 96
 *   OperationFailed when the range holds no key; 349, 16634 for bounds whose fields are not those of the pattern
 */
export function splitVector(collection: Collection, request: SplitVectorRequest): Uint8Array[] {
  const { keyPattern, force = false, maxSplitPoints = null } = request
  const index = shardKeyPrefixedIndex(collection, keyPattern)
  if (index === undefined)
    throw new CommandError('IndexNotFound', `couldn't find index over splitting key ${formatDocument(keyPattern)}`)
  const keys = new RangeKeys(collection, index, keyPattern, request.min, request.max)
  const { count, dataSizeBytes } = collection
  const maxChunkSizeBytes = force ? dataSizeBytes : (request.maxChunkSizeBytes ?? 0)
  if (maxChunkSizeBytes <= 0 && (count > 0 || request.refuseEmpty !== false))
    throw new CommandError('InvalidOptions', 'need to specify the desired max chunk size')
  if (dataSizeBytes < maxChunkSizeBytes || count === 0) return []
  if (keys.next() === undefined)
    throw new CommandError('OperationFailed', "can't open a cursor to scan the range (desired range is possibly empty)")
  const part = force
    ? Math.floor(keys.countFromStart() / 2)
    : keysPerPart(maxChunkSizeBytes, { documents: count, bytes: dataSizeBytes }, request)
  return pick(keys, part, maxSplitPoints ?? 0)
}

/** Every key behind `keysPerPart` others that differs from the one before it. */
function pick(keys: RangeKeys, keysPerPart: number, splitPointsMax: number): Uint8Array[] {
  const points: Uint8Array[] = []
  let bytes = 0
  keys.restart()
  let key = keys.next()
  let previous = key
  for (let seen = 1; key !== undefined; key = keys.next(), seen++) {
    if (seen <= keysPerPart || key === previous) continue
    const point = keys.document()
    bytes += point.length + bytesPerArrayElement
    if (bytes > resultBytesMax) break
    points.push(point)
    previous = key
    seen = 0
    if (splitPointsMax !== 0 && points.length >= splitPointsMax) break
  }
  return points
}

/** The shard keys of a range, in order, once for each entry of the index. */
class RangeKeys {
  readonly #collection: Collection
  readonly #index: Index
  readonly #paths: readonly string[]
  readonly #low: string | undefined
  readonly #high: string | undefined
  #cursor: ReturnType<Index['scanKeys']>
  #recordId = -1

  constructor(
    collection: Collection,
    index: Index,
    keyPattern: Uint8Array,
    min: Uint8Array | null,
    max: Uint8Array | null,
  ) {
    this.#collection = collection
    this.#index = index
    this.#paths = fieldsOf(keyPattern).map(([path]) => path)
    this.#low = boundOf(index, min)
    this.#high = boundOf(index, max)
    this.#cursor = this.#open()
  }

  restart(): void {
    this.#cursor = this.#open()
  }

  /** The key's KeyString; undefined at the end. */
  next(): string | undefined {
    this.#recordId = this.#cursor.next()
    if (this.#recordId < 0) return undefined
    return shardKeyPart(this.#cursor.key, this.#index, this.#paths)
  }

  countFromStart(): number {
    this.restart()
    let count = 0
    while (this.#cursor.next() >= 0) count++
    return count
  }

  /** The key that {@link next} gave, as a document. */
  document(): Uint8Array {
    return indexedShardKey(this.#collection, this.#index, this.#paths, this.#recordId)
  }

  #open(): ReturnType<Index['scanKeys']> {
    return this.#index.scanKeys(this.#low, this.#high, false)
  }
}

/** Missing trailing fields count as MinKey at either end: a tuple of fewer fields stands before all that begin with it. */
function boundOf(index: Index, bound: Uint8Array | null): string | undefined {
  const fields = bound === null ? [] : fieldsOf(bound)
  if (fields.length === 0) return undefined
  if (fields.length > index.pattern.length)
    throw new CommandError(
      'KeyPatternShorterThanBound',
      `keyPattern ${formatDocument(index.key)} shorter than bound ${formatDocument(bound!)}`,
    )
  if (fields.some(([name], i) => name !== index.pattern[i]!.path))
    throw new CommandError(
      16634,
      `field names of bound ${formatDocument(bound!)} do not match those of keyPattern ${formatDocument(index.key)}`,
    )
  return keyStringOfDocument(
    bound!,
    index.pattern.map(({ direction }) => direction === -1),
  )
}
