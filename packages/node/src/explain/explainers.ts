/** Which commands can be explained, and how. Manual: reference/command/explain. */
import type { FieldSpecs } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { aggregateFields } from '../aggregation/aggregate-fields.js'
import { countFields } from '../crud/read-count.js'
import { distinctFields } from '../crud/read-distinct.js'
import { findFields } from '../crud/read-find.js'
import { findAndModifyFields } from '../crud/write-find-and-modify.js'
import type { NodeInvocation } from '../invocation.js'
import type { Access } from '../role.js'
import { explainAggregate } from './explain-aggregate.js'
import { explainCount } from './explain-count.js'
import { explainDistinct } from './explain-distinct.js'
import { explainFind } from './explain-find.js'
import { explainFindAndModify, explainUpdate, explainDelete } from './explain-write.js'
import type { Verbosity } from './verbosity.js'

/** What an explainer is given. */
export interface ExplainRequest {
  /** The command as if it had come by itself. */
  readonly invocation: NodeInvocation
  readonly ns: string
  readonly access: Access
  readonly verbosity: Verbosity
}

export interface Explainer {
  readonly fields: FieldSpecs
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

const writeFields = { ordered: 'bool', bypassDocumentValidation: 'bool', let: 'object' } as const
const updateFields = { ...writeFields, updates: 'array!' } as const
const deleteFields = { ...writeFields, deletes: 'array!' } as const

/** Undefined for a command that cannot be explained, or is none. */
export function explainerOf(name: string): Explainer | undefined {
  switch (name) {
    case 'aggregate':
      return { fields: aggregateFields, explain: explainAggregate }
    case 'count':
      return { fields: countFields, explain: explainCount }
    case 'delete':
      return { fields: deleteFields, explain: explainDelete }
    case 'distinct':
      return { fields: distinctFields, explain: explainDistinct }
    case 'find':
      return { fields: findFields, explain: explainFind }
    case 'findAndModify':
    case 'findandmodify':
      return { fields: findAndModifyFields, explain: explainFindAndModify }
    case 'update':
      return { fields: updateFields, explain: explainUpdate }
    default:
      return undefined
  }
}
