import type { AnalysisParameters, KeyAnalysis } from '@shardlab/actor'
import type { ShardKeyPattern } from '@shardlab/sharding'
import type { MongosInvocation } from '../host/mongos-host.js'

export interface AnalysisOptions {
  readonly keyCharacteristics: boolean
  readonly readWriteDistribution: boolean
  /** At most one of the two is given. */
  readonly sampleRate: number | null
  readonly sampleSize: number | null
}

/** What the parts of an analysis work on. */
export interface Analysis {
  readonly invocation: MongosInvocation
  readonly ns: string
  readonly shardKey: ShardKeyPattern
  readonly options: AnalysisOptions
  readonly isSharded: boolean
  /** The shards that have documents of the collection. */
  readonly shards: readonly string[]
  /** The shard that is asked first about the order of its documents, and that keeps the split points. */
  readonly first: string
  /** Those of the first shard. */
  readonly parameters: AnalysisParameters
  /** The collection and the key, with the versions for one shard. */
  readonly about: (shard: string) => KeyAnalysis
}
