/** Server: auto_split_vector.cpp. */
import { CommandError } from '@shardlab/bson'
import { addKeys, type NodeHost, type SteppedWork } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import type { ShardKeyPattern } from '@shardlab/sharding'
import type { Collection, Index } from '@shardlab/storage'
import { fullEnough, repositionedMax } from '../chunk-sizes.js'
import type { AutoSplitRequest } from '../collection-ranges.js'
import type { KeyRange } from '../key-range.js'
import { indexedShardKey, RangeCursor, rangeIndex, shardKeyPart } from './range-cursor.js'

/** Of all split points together, each with its overhead in an array. */
const resultBytesMax = 16 * 1024 * 1024
const bytesPerArrayElement = 7

/**
 * Ascending shard keys that cut a range into chunks of at most this size, the last ones of equal
 * size; the average document of the collection gives the estimate. None when the whole collection
 * is smaller, or when the range has one key. Documents with equal keys are never separated.
 * @throws CommandError 27 IndexNotFound
 */
export function* autoSplitVector(
  node: NodeHost,
  live: Collection,
  request: AutoSplitRequest,
): SteppedWork<Uint8Array[]> {
  yield* addKeys(node, live)
  const collection = live.snapshot()
  const { shardKey, range, maxChunkSizeBytes, pointsMax } = request
  const { count, dataSizeBytes } = collection
  if (count === 0 || dataSizeBytes < maxChunkSizeBytes) return []
  const index = rangeIndex(collection, shardKey)
  if (index === undefined)
    throw new CommandError(
      'IndexNotFound',
      `couldn't find index over splitting key ${formatDocument(shardKey.document)}`,
    )
  if (hasOneKey(index, shardKey, range)) return []
  const keysPerChunk = Math.floor(maxChunkSizeBytes / Math.floor(dataSizeBytes / count))
  const keys = new Keys(index, shardKey, range)
  const positions = yield* choose(keys, keysPerChunk, pointsMax)
  const points: Uint8Array[] = []
  let bytes = 0
  for (const position of pointsMax === null ? positions : positions.slice(0, pointsMax)) {
    const point = indexedShardKey(collection, index, shardKey.paths, keys.at(position)!.recordId)
    bytes += point.length + bytesPerArrayElement
    if (bytes > resultBytesMax && points.length > 0) break
    points.push(point)
  }
  return points
}

interface KeyAt {
  readonly key: string
  readonly recordId: number
}

function* choose(keys: Keys, keysPerChunk: number, pointsMax: number | null): SteppedWork<number[]> {
  const positions: number[] = []
  // The server reads the first key before the scan and counts it.
  let seen = 1
  let last = keys.at(0)!.key
  for (let i = 1, next = keys.at(1); next !== undefined; next = keys.at(++i)) {
    yield
    if (++seen < keysPerChunk || next.key === last) continue
    positions.push(i)
    last = next.key
    seen = 0
    // One more than requested shows whether the last chunk would be too small.
    if (pointsMax !== null && positions.length === pointsMax + 1) break
  }
  if (seen >= keysPerChunk * fullEnough || positions.length === 0) return positions
  const repositioned = Math.min(repositionedMax, positions.length)
  const keysPerNewChunk = keysPerChunk - Math.trunc((keysPerChunk - seen) / (repositioned + 1))
  if (seen < keysPerChunk - keysPerNewChunk) return positions.slice(0, -1)
  const kept = positions.slice(0, positions.length - repositioned)
  return [...kept, ...recut(keys, kept.at(-1) ?? 0, keysPerNewChunk, repositioned)]
}

/** Split points from a position on, each after that many keys. */
function recut(keys: Keys, from: number, keysPerChunk: number, most: number): number[] {
  const positions: number[] = []
  let last = keys.at(from)!.key
  let seen = 0
  for (let i = from, next = keys.at(from); next !== undefined && positions.length < most; next = keys.at(++i)) {
    if (++seen < keysPerChunk || next.key === last) continue
    positions.push(i)
    last = next.key
    seen = 0
  }
  return positions
}

function hasOneKey(index: Index, shardKey: ShardKeyPattern, range: KeyRange): boolean {
  const [low, high] = [false, true].map((reverse) => {
    const cursor = new RangeCursor(index, range, reverse)
    return cursor.next() < 0 ? null : shardKeyPart(cursor.key, index, shardKey.paths)
  })
  return low === high
}

/** Keys are read on demand. */
class Keys {
  readonly #cursor: RangeCursor
  readonly #index: Index
  readonly #shardKey: ShardKeyPattern
  readonly #read: KeyAt[] = []

  constructor(index: Index, shardKey: ShardKeyPattern, range: KeyRange) {
    this.#cursor = new RangeCursor(index, range)
    this.#index = index
    this.#shardKey = shardKey
  }

  /** Undefined: after the last key. */
  at(position: number): KeyAt | undefined {
    while (this.#read.length <= position) {
      const recordId = this.#cursor.next()
      if (recordId < 0) return undefined
      this.#read.push({ key: shardKeyPart(this.#cursor.key, this.#index, this.#shardKey.paths), recordId })
    }
    return this.#read[position]
  }
}
