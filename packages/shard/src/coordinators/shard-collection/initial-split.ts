import type { Behaviours, ShardKeyPattern } from '@shardlab/sharding'
import type { ZoneRange } from './zones.js'

export interface InitialSplit {
  readonly behaviours: Behaviours
  readonly ns: string
  readonly shardKey: ShardKeyPattern
  readonly isEmpty: boolean
  readonly primaryShard: string
  /** In the order in which they get chunks. */
  readonly shards: readonly string[]
  /** In the order of the shards' ids. */
  readonly shardsOfZone: ReadonlyMap<string, readonly string[]>
  /** By their lower bounds; bounds of the whole key. */
  readonly zones: readonly ZoneRange[]
  readonly numInitialChunks: number
  readonly presplitHashedZones: boolean
  /** From the collection's documents. */
  readonly splitPoints: readonly Uint8Array[]
}
