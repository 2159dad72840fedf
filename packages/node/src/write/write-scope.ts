import type { EvaluationContext } from '@shardlab/query'
import { withTimeLimit, writeEvaluation } from '@shardlab/member'
import type { Access, NodeInvocation } from '../host/node-host.js'

/** What the statements of one command on one collection have in common. */
export interface WriteScope {
  readonly invocation: NodeInvocation
  readonly ns: string
  readonly access: Access
  /** Clock, dice and `let` of the command; the collation is each statement's own. */
  readonly evaluation: EvaluationContext
  /** `bypassDocumentValidation` */
  readonly bypassValidation: boolean
  /** `bypassEmptyTsReplacement`: an empty timestamp is stored as it is. */
  readonly keepsEmptyTimestamps: boolean
}

/**
 * The scope of a command that has entered: `role.enter` gave its access. Nothing may be awaited between the two, or the access may
 * be another one by then.
 */
export function writeScope(invocation: NodeInvocation, ns: string, access: Access): WriteScope {
  const { host, args } = invocation
  return {
    invocation,
    ns,
    access,
    evaluation: withTimeLimit(writeEvaluation(host, args), invocation.operation),
    bypassValidation: args.bool('bypassDocumentValidation') === true,
    keepsEmptyTimestamps: args.bool('bypassEmptyTsReplacement') === true,
  }
}
