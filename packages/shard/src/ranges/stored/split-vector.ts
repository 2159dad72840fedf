/** Server: split_vector.cpp. */
import { CommandError, fieldsOf, keyStringOfDocument } from '@shardlab/bson'
import { addKeys, type NodeHost, type SteppedWork } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import type { Collection, Index } from '@shardlab/storage'
import { shardKeyPrefixedIndex } from '../../shard-key/shard-key-prefixed-index.js'
import { keysPerPart } from '../chunk-sizes.js'
import type { SplitVectorRequest } from '../collection-ranges.js'
import { indexedShardKey, shardKeyPart } from './range-cursor.js'

/** Of all split points together, each with its overhead in an array. */
const resultBytesMax = 16 * 1024 * 1024
const bytesPerArrayElement = 2

/**
 * Ascending shard keys that cut the range into parts of about half a chunk's size, estimated from
 * the collection's average document. Documents with equal keys are never separated. None when the
 * range has one key, or when the whole collection is smaller than a chunk.
 * @returns bound documents in the order of the pattern
 * @throws CommandError 27 IndexNotFound when no index begins with the pattern; 72 InvalidOptions
 *   without a size; 96 OperationFailed for an empty range; 349, 16634 for bounds with other fields
 *   than the pattern
 */
export function* splitVector(node: NodeHost, live: Collection, request: SplitVectorRequest): SteppedWork<Uint8Array[]> {
  yield* addKeys(node, live)
  const collection = live.snapshot()
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
    ? Math.floor((yield* keys.countFromStart()) / 2)
    : keysPerPart(maxChunkSizeBytes, { documents: count, bytes: dataSizeBytes }, request)
  return yield* pick(keys, part, maxSplitPoints ?? 0)
}

/** The first new key after each `keysPerPart` keys. */
function* pick(keys: RangeKeys, keysPerPart: number, splitPointsMax: number): SteppedWork<Uint8Array[]> {
  const points: Uint8Array[] = []
  let bytes = 0
  keys.restart()
  let key = keys.next()
  let previous = key
  for (let seen = 1; key !== undefined; key = keys.next(), seen++) {
    yield
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

/** Shard keys in order, one per index entry. */
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

  /** undefined: the end. */
  next(): string | undefined {
    this.#recordId = this.#cursor.next()
    if (this.#recordId < 0) return undefined
    return shardKeyPart(this.#cursor.key, this.#index, this.#paths)
  }

  *countFromStart(): SteppedWork<number> {
    this.restart()
    let count = 0
    while (this.#cursor.next() >= 0) {
      count++
      yield
    }
    return count
  }

  /** The last key of {@link next}. */
  document(): Uint8Array {
    return indexedShardKey(this.#collection, this.#index, this.#paths, this.#recordId)
  }

  #open(): ReturnType<Index['scanKeys']> {
    return this.#index.scanKeys(this.#low, this.#high, false)
  }
}

/** Missing trailing fields count as MinKey: a shorter tuple sorts before its extensions. */
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
