/** Which commands can be explained, and how. Manual: reference/command/explain. */
import { DocumentWriter } from '@shardlab/bson'
import type { Verbosity } from '@shardlab/member'
import type { NodeInvocation } from '../invocation.js'
import type { Access } from '../role.js'
import { explainAggregate } from './explain-aggregate.js'
import { explainCount } from './explain-count.js'
import { explainDistinct } from './explain-distinct.js'
import { explainFind } from './explain-find.js'
import { explainFindAndModify, explainUpdate, explainDelete } from './explain-write.js'

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

const explainers: ReadonlyMap<string, Explainer> = new Map<string, Explainer>([
  ['aggregate', { explain: explainAggregate }],
  ['count', { explain: explainCount }],
  ['delete', { explain: explainDelete }],
  ['distinct', { explain: explainDistinct }],
  ['find', { explain: explainFind }],
  ['findAndModify', { explain: explainFindAndModify }],
  ['findandmodify', { explain: explainFindAndModify }],
  ['update', { explain: explainUpdate }],
])

/** The explainer of a command that {@link explainableFields} has fields for. */
export function explainerOf(name: string): Explainer {
  return explainers.get(name)!
}
