import type { EvaluationContext } from '@shardlab/query'
import { withTimeLimit, writeEvaluation } from '@shardlab/member'
import type { Access, NodeInvocation } from '../host/node-host.js'

export interface WriteScope {
  readonly invocation: NodeInvocation
  readonly ns: string
  readonly access: Access
  /** Clock, randomness and `let` of the command. The collation belongs to each statement. */
  readonly evaluation: EvaluationContext
  readonly bypassValidation: boolean
  /** `bypassEmptyTsReplacement`: empty timestamps are stored unchanged. */
  readonly keepsEmptyTimestamps: boolean
}

/**
 * @param access returned by `role.enter`; await nothing between the two calls, because the access
 * may change
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
