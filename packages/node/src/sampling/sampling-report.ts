/** What a member that samples queries adds to the reports and writes of the node below. Server: query_analysis_sampler.h, query_analysis_writer.h. */
import type { SamplingReport } from '@shardlab/member'
import type { NodeInvocation } from '../invocation.js'

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
