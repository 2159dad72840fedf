import type { DocumentWriter } from '@shardlab/bson'
import type { ShardLabel } from '../operations/shard-label.js'

/** Server: query_analysis_sampler.h. */
export interface SamplingReport {
  /** One document of currentOp per sampled collection. */
  operations(shard: ShardLabel): Uint8Array[]
  /** Appends `queryAnalyzers` of serverStatus. */
  writeStatus(writer: DocumentWriter): void
}
