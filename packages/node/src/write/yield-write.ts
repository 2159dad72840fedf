/**
 * A write gives up its turn between two documents. Other commands may then change documents,
 * collections and placements, so it enters again before it continues. Server: update_stage.cpp
 * (restoreState), write_ops_exec.cpp.
 */
import { CommandError } from '@shardlab/bson'
import type { LogSession } from '@shardlab/storage'
import { giveUpTurn, isStaleCode } from '@shardlab/member'
import type { SourceReads } from '../cursors/source-reads.js'
import type { ExecutedStatement } from '../retry/executed-statement.js'
import { awaitEnd, awaitUnlock } from '../transactions/await-transactions.js'
import type { Transaction } from '../transactions/transaction.js'
import { sliceOf, type WriteScope } from './write-scope.js'

/** A repetition of the command has executed the statement in the meantime. */
export class StatementExecutedError extends Error {
  readonly executed: ExecutedStatement

  constructor(executed: ExecutedStatement) {
    super('a repetition of the command has executed the statement')
    this.name = 'StatementExecutedError'
    this.executed = executed
  }
}

/**
 * Between two statements. Await nothing between this call and the next change.
 * @throws CommandError 13388 StaleConfig, 249 StaleDbVersion, the error with which the operation
 *   was killed, 50 MaxTimeMSExpired
 */
export async function yieldBetween(scope: WriteScope): Promise<void> {
  const { host, operation } = scope.invocation
  await host.flush()
  await giveUpTurn(host.context, operation, sliceOf(scope))
  await awaitUnlock(scope.invocation)
  const entered = host.role.enter(scope.ns, scope.invocation)
  scope.access = entered instanceof Promise ? await entered : entered
  operation.checkForInterrupt()
  scope.announce?.()
}

/**
 * Waits until a transaction ends that has written the document or a unique key of it. The caller
 * repeats the statement, of which nothing is done.
 * @throws CommandError as {@link yieldBetween}
 */
export async function yieldToTransaction(scope: WriteScope, holder: Transaction): Promise<void> {
  await scope.invocation.host.flush()
  await awaitEnd(scope.invocation, holder)
  await yieldBetween(scope)
}

export interface PausedStatement {
  readonly reads: SourceReads
  readonly session: LogSession | null
  /** Whether it cannot be sent again when the placement changes: a part of its updates is done. */
  readonly isPartial: boolean
  /** The transaction that has written the next document. Null: none is known. */
  readonly holder: Transaction | null
}

/**
 * Within a statement, as {@link yieldBetween}.
 * @throws CommandError 175 QueryPlanKilled when the collection is gone, or when the placement has
 *   changed in the middle of an update of many documents; 225 TransactionTooOld
 * @throws StatementExecutedError
 */
export async function yieldWithin(
  scope: WriteScope,
  { reads, session, isPartial, holder }: PausedStatement,
): Promise<void> {
  const { host, retryable, operation } = scope.invocation
  host.cursors.pausedReads.set(reads, operation)
  try {
    if (holder === null) await yieldBetween(scope)
    else await yieldToTransaction(scope, holder)
  } catch (error) {
    if (!isPartial || !(error instanceof CommandError) || !isStaleCode(error.code)) throw error
    throw new CommandError('QueryPlanKilled', `query plan killed :: ${error.message}`, { cause: error })
  } finally {
    host.cursors.pausedReads.delete(reads)
  }
  reads.check()
  if (session === null || retryable === null) return
  const { key } = retryable.session
  host.retries.begin(key, session.txnNumber, host.context.now())
  const executed = host.retries.executed(key, session.txnNumber, session.stmtIds[0]!)
  if (executed !== undefined) throw new StatementExecutedError(executed)
}
