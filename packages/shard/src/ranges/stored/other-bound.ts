/** Server: migration_source_manager.cpp (computeOtherBound), auto_split_vector.cpp. */
import type { ShardKeyPattern } from '@shardlab/sharding'
import type { Collection, Index } from '@shardlab/storage'
import { fullEnough } from '../chunk-sizes.js'
import type { OtherBoundRequest } from '../collection-ranges.js'
import type { KeyRange } from '../key-range.js'
import { indexedShardKey, RangeCursor, rangeIndex, shardKeyPart } from './range-cursor.js'

/**
 * The missing bound of a range of about a full chunk; the bound of `chunk` when it has less, or
 * when one key has that many documents.
 */
export function otherBound(
  collection: Collection,
  { shardKey, chunk, maxChunkSizeBytes, reverse }: OtherBoundRequest,
): Uint8Array {
  const whole = reverse ? chunk.min : chunk.max
  const { count, dataSizeBytes } = collection
  const index = rangeIndex(collection, shardKey)
  if (index === undefined || count === 0 || dataSizeBytes < maxChunkSizeBytes) return whole
  const documentsPerChunk = Math.floor(maxChunkSizeBytes / Math.floor(dataSizeBytes / count))
  const keys = keysOf(collection, index, shardKey, chunk, reverse, documentsPerChunk)
  const first = firstChange(keys, documentsPerChunk)
  if (first === null) return whole
  const rest = keys.length - first - 1
  if (rest >= documentsPerChunk * fullEnough) return keys[first]!.bound()
  // The rest would be too small: move halves, unless they are hardly smaller than the whole.
  const share = documentsPerChunk - Math.floor((documentsPerChunk - rest) / 2)
  if (rest < documentsPerChunk - share) return whole
  const fairer = firstChange(keys, share)
  return fairer === null ? whole : keys[fairer]!.bound()
}

interface KeyAt {
  readonly key: string
  bound(): Uint8Array
}

/** The first position at or after `count` documents with another key than the first; null: none. */
function firstChange(keys: readonly KeyAt[], count: number): number | null {
  for (let i = Math.max(1, count - 1); i < keys.length; i++) if (keys[i]!.key !== keys[0]!.key) return i
  return null
}

/** Reads as many keys from one end as the choice needs: few of a much too large chunk. */
function keysOf(
  collection: Collection,
  index: Index,
  shardKey: ShardKeyPattern,
  range: KeyRange,
  reverse: boolean,
  documentsPerChunk: number,
): KeyAt[] {
  const cursor = new RangeCursor(index, range, reverse)
  const keys: KeyAt[] = []
  let enough = Number.POSITIVE_INFINITY
  for (let recordId = cursor.next(); recordId >= 0; recordId = cursor.next()) {
    const id = recordId
    const key = shardKeyPart(cursor.key, index, shardKey.paths)
    keys.push({ key, bound: () => indexedShardKey(collection, index, shardKey.paths, id) })
    if (enough === Number.POSITIVE_INFINITY && keys.length >= documentsPerChunk && key !== keys[0]!.key)
      enough = keys.length + Math.ceil(documentsPerChunk * fullEnough)
    if (keys.length > enough) break
  }
  return keys
}
