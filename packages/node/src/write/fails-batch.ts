/** Server: write_ops_exec.cpp, handleError. */
import { type CommandError, ErrorCodes, isTransientTransactionError } from '@shardlab/bson'
import type { NodeInvocation } from '../host/node-host.js'

/** Server: the category `Interruption` of error_codes.yml. */
const interruptions: ReadonlySet<number> = new Set([
  ErrorCodes.MaxTimeMSExpired,
  ErrorCodes.CursorKilled,
  ErrorCodes.ClientDisconnect,
  ErrorCodes.InterruptedAtShutdown,
  ErrorCodes.Interrupted,
  ErrorCodes.InterruptedDueToReplStateChange,
])

/** Server: `TransactionParticipant`, which is asked before a statement runs. */
const refusedBySession: ReadonlySet<number> = new Set([
  ErrorCodes.TransactionTooOld,
  ErrorCodes.IncompleteTransactionHistory,
])

/**
 * The error ends the command instead of becoming a write error. Earlier writes stay. In a
 * transaction every other error ends it, too, after the reply.
 */
export function failsBatch({ code }: CommandError, { transaction }: Pick<NodeInvocation, 'transaction'> = {}): boolean {
  if (interruptions.has(code) || refusedBySession.has(code)) return true
  const open = transaction?.open ?? null
  // With the last one, the router moves the document and continues.
  if (open === null || code === ErrorCodes.WouldChangeOwningShard) return false
  if (isTransientTransactionError(code, false) || code === ErrorCodes.OperationNotSupportedInTransaction) return true
  open.hasFailed = true
  return false
}
