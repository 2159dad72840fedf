import type { Behaviours, ShardKeyPattern } from '@shardlab/sharding'
import type { ZoneRange } from './zones.js'

/** The input of the initial split policy. */
export interface InitialSplit {
  readonly behaviours: Behaviours
  readonly ns: string
  readonly shardKey: ShardKeyPattern
  readonly isEmpty: boolean
  readonly primaryShard: string
  /** Shards in the order in which they get chunks. */
  readonly shards: readonly string[]
  /** Shards of each zone, in the order of their ids. */
  readonly shardsOfZone: ReadonlyMap<string, readonly string[]>
  /** By their lower bounds; bounds of the whole key. */
  readonly zones: readonly ZoneRange[]
  /** 0: the version's default. */
  readonly numInitialChunks: number
  readonly presplitHashedZones: boolean
  /** Split points of the documents of the collection. */
  readonly splitPoints: readonly Uint8Array[]
}
