import { noStatementId, type CommandRow, type NodeCommand } from '@shardlab/actor'
import type { SessionId, SessionOptions } from '@shardlab/member'
import type { NodeHost, NodeInvocation, RetryableWrite } from '../host/node-host.js'

/**
 * Null: the command is not a statement of a retryable write.
 * @throws CommandError 225 TransactionTooOld, 217 IncompleteTransactionHistory
 * @throws SessionIsPrepared
 */
export function retryableWriteOf(
  node: NodeHost,
  row: CommandRow<NodeInvocation>,
  { session, txnNumber, transaction }: SessionOptions,
  routed: NodeCommand | null,
): RetryableWrite | null {
  if (txnNumber === null || session === null) return null
  if (transaction !== null) return retryableInTransaction(node, row, session, routed)
  if (!node.transactions.isEmpty) node.transactions.beginRetryableWrite(session.key, txnNumber)
  node.retries.begin(session.key, txnNumber, node.context.now())
  return retryableWrite(session, txnNumber, routed)
}

/** A statement of a client that a router runs in an internal transaction, or the search for it. */
function retryableInTransaction(
  node: NodeHost,
  row: CommandRow<NodeInvocation>,
  { parent }: SessionId,
  routed: NodeCommand | null,
): RetryableWrite | null {
  if (parent === undefined || parent.txnNumber === null) return null
  if (row.retryable !== true && row.name !== 'find') return null
  if (routed?.stmtIds?.[0] === noStatementId) return null
  const { session, txnNumber } = parent
  node.retries.begin(session.key, txnNumber, node.context.now())
  return retryableWrite(session, txnNumber, routed)
}

function retryableWrite(session: SessionId, txnNumber: bigint, routed: NodeCommand | null): RetryableWrite {
  const stmtIds = routed?.stmtIds ?? null
  return { session, txnNumber, stmtId: (index) => stmtIds?.[index] ?? index }
}
