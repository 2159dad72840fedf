import type { DocumentWriter } from '@shardlab/bson'
import type { Verbosity } from '@shardlab/member'
import type { Access, NodeInvocation } from '../../host/node-host.js'

export interface ExplainRequest {
  /** As if it were sent without explain. */
  readonly invocation: NodeInvocation
  readonly ns: string
  readonly access: Access
  readonly verbosity: Verbosity
}

export interface Explainer {
  /**
   * Appends `queryPlanner` and `executionStats`, or `stages`. @throws CommandError of the command
   */
  explain(request: ExplainRequest, writer: DocumentWriter): Promise<ExplainTail>
}

export interface ExplainTail {
  /** Whether it is a pipeline of several stages, whose reply has `command` after `serverInfo`. */
  readonly isPipeline: boolean
}
