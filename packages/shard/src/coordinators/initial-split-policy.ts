/** The chunks a collection starts with. Server: initial_split_policy.cpp. */
import type { ChunkAssignment } from '@shardlab/actor'
import { int64Value, minKeyValue } from '@shardlab/bson'
import { hashedSplitPoints, type ShardKeyPattern } from '@shardlab/sharding'

export interface InitialSplit {
  readonly shardKey: ShardKeyPattern
  readonly isEmpty: boolean
  readonly primaryShard: string
  /** Shards in the order in which they get chunks. */
  readonly shards: readonly string[]
  /** For hashed keys on empty collections: how many chunks in all; null for the version's own number. */
  readonly chunkCount: number | null
  readonly chunksPerShard: number
}

/** One chunk on the primary shard, or equal parts of the hash space over all shards. */
export function initialChunks(split: InitialSplit): ChunkAssignment[] {
  const { shardKey, shards } = split
  if (!split.isEmpty || shardKey.hashedIndex !== 0) return [[shardKey.globalMin, shardKey.globalMax, split.primaryShard]]
  const count = split.chunkCount ?? split.chunksPerShard * shards.length
  const bounds = [
    shardKey.globalMin,
    ...hashedSplitPoints(count).map((point) =>
      shardKey.boundDocument(shardKey.fields.map((_, i) => (i === 0 ? int64Value(point) : minKeyValue))),
    ),
    shardKey.globalMax,
  ]
  const perShard = Math.max(1, Math.floor(count / shards.length))
  return bounds.slice(0, -1).map((min, i) => {
    const shard = count < shards.length && i === 0 ? split.primaryShard : shards[Math.floor(i / perShard) % shards.length]!
    return [min, bounds[i + 1]!, shard] as const
  })
}
