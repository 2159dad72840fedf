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
  readonly shards: readonly string[]
  /** The first shard is asked first for monotonicity, and stores the split points. */
  readonly first: string
  readonly parameters: AnalysisParameters
  /** Has the versions for a shard. */
  readonly about: (shard: string) => KeyAnalysis
}
