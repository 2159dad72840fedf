import type { DocumentWriter } from '@shardlab/bson'
import type { ShardLabel } from '../operations/shard-label.js'

/** The sampling of a member as it reports on it. */
export interface SamplingReport {
  /** One document of currentOp for each collection that is sampled. */
  operations(shard: ShardLabel): Uint8Array[]
  /** The fields of `queryAnalyzers` of serverStatus. */
  writeStatus(writer: DocumentWriter): void
}
