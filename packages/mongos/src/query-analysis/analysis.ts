import type { AnalysisParameters, KeyAnalysis } from '@shardlab/actor'
import type { ShardKeyPattern } from '@shardlab/sharding'
import type { MongosInvocation } from '../host/mongos-host.js'

export interface AnalysisOptions {
  readonly keyCharacteristics: boolean
  readonly readWriteDistribution: boolean
  /** At most one of `sampleRate` and `sampleSize` is set. */
  readonly sampleRate: number | null
  readonly sampleSize: number | null
}

export interface Analysis {
  readonly invocation: MongosInvocation
  readonly ns: string
  readonly shardKey: ShardKeyPattern
  readonly options: AnalysisOptions
  readonly isSharded: boolean
  /** The shards that own chunks of the collection. */
  readonly shards: readonly string[]
  /** The shard that is asked first for monotonicity, and that stores the split points. */
  readonly first: string
  /** As of the first shard. */
  readonly parameters: AnalysisParameters
  /** The collection and the key, with the versions for a shard. */
  readonly about: (shard: string) => KeyAnalysis
}
