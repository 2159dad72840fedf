/** What a member that samples queries adds to the reports and writes of the node below. Server: query_analysis_sampler.h, query_analysis_writer.h. */
import type { DocumentWriter } from '@shardlab/bson'
import type { NodeInvocation } from '../invocation.js'
import type { ShardLabel } from '../operations/operation-document.js'

/** The sampling of a member as it reports on it. */
export interface SamplingReport {
  /** One document of currentOp for each collection that is sampled. */
  operations(shard: ShardLabel): Uint8Array[]
  /** The fields of `queryAnalyzers` of serverStatus. */
  writeStatus(writer: DocumentWriter): void
}

/** The sampling of a storage node: it keeps what sampled updates did to documents. */
export interface SampledWrites extends SamplingReport {
  /** Is any collection sampled? Only then the node says which statement begins. */
  readonly isActive: boolean
  /**
   * The statement whose replacements come next, until the one after it: a statement of an update, an op of a bulkWrite, or the body of a
   * findAndModify. A `sampleId` in it says that it is sampled.
   */
  statementBegins(ns: string, statement: Uint8Array, invocation: NodeInvocation): void
}
