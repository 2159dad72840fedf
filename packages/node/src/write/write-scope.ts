import type { EvaluationContext } from '@shardlab/query'
import { withTimeLimit, writeEvaluation, type TimeSlice } from '@shardlab/member'
import { newSlice } from '../read/new-slice.js'
import type { Access, NodeInvocation } from '../host/node-host.js'

export interface WriteScope {
  readonly invocation: NodeInvocation
  readonly ns: string
  /** Renewed when a statement has given up its turn. */
  access: Access
  /** Clock, randomness and `let` of the command. The collation belongs to each statement. */
  readonly evaluation: EvaluationContext
  readonly bypassValidation: boolean
  /** Operations of applyOps: the role does not check documents. */
  readonly isFromOplog: boolean
  /** `bypassEmptyTsReplacement`: empty timestamps are stored unchanged. */
  readonly keepsEmptyTimestamps: boolean
  /** Null: not needed yet. See {@link sliceOf}. */
  slice: TimeSlice | null
  /** Repeats what the running statement told others before its first change. Null: nothing. */
  announce: (() => void) | null
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
    isFromOplog: false,
    keepsEmptyTimestamps: args.bool('bypassEmptyTsReplacement') === true,
    slice: null,
    announce: null,
  }
}

/** Created on first use: most commands are a single statement with an `_id`. */
export function sliceOf(scope: WriteScope): TimeSlice {
  return (scope.slice ??= newSlice(scope.invocation.host))
}
