/**
 * With a monotonic key all inserts go to the chunk at one end of the key space. Its split leaves a
 * nearly empty chunk there, which then moves to another shard.
 * Server: chunk_splitter.cpp, findExtremeKeyForShard.
 */
import type { ShardKeyPattern } from '@shardlab/sharding'
import type { CollectionRanges } from '../ranges/collection-ranges.js'
import type { KeyRange } from '../ranges/key-range.js'

export interface TopChunk {
  /** The first or last one is replaced. */
  readonly points: readonly Uint8Array[]
  /** Lower bound of the chunk at the end of the key space. */
  readonly min: Uint8Array
}

/** @returns null: the chunk is not at an end, or the shard key is hashed */
export function cutForTopChunk(
  ranges: CollectionRanges,
  shardKey: ShardKeyPattern,
  chunk: KeyRange,
  points: readonly Uint8Array[],
): TopChunk | null {
  if (shardKey.isHashed) return null
  const isFirst = shardKey.keyStringOfBound(chunk.min) === shardKey.globalMinKeyString
  const isLast = shardKey.keyStringOfBound(chunk.max) === shardKey.globalMaxKeyString
  if (!isFirst && !isLast) return null
  const key = ranges.extremeKey(shardKey, isFirst)
  if (key === null) return null
  return isFirst
    ? { points: [key, ...points.slice(1)], min: chunk.min }
    : { points: [...points.slice(0, -1), key], min: key }
}
