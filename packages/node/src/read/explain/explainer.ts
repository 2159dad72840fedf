import type { DocumentWriter } from '@shardlab/bson'
import type { Verbosity } from '@shardlab/member'
import type { Access, NodeInvocation } from '../../host/node-host.js'

/** What an explainer is given. */
export interface ExplainRequest {
  /** The command as if it had come by itself. */
  readonly invocation: NodeInvocation
  readonly ns: string
  readonly access: Access
  readonly verbosity: Verbosity
}

export interface Explainer {
  /** Appends `queryPlanner` and `executionStats`, or `stages`. @throws CommandError whatever the command itself would be refused with */
  explain(request: ExplainRequest, writer: DocumentWriter): ExplainTail | Promise<ExplainTail>
}

/** What follows. */
export interface ExplainTail {
  /** Null: such a query has none. */
  readonly shapeHash: string | null
  /** Is it a pipeline of several stages? Then the command is shown after what is told of the server. */
  readonly isPipeline: boolean
}
