/**
 * A write gives up its turn between two documents. Other commands may then change documents,
 * collections and placements, so it enters again before it continues. Server: update_stage.cpp
 * (restoreState), write_ops_exec.cpp.
 */
import { CommandError } from '@shardlab/bson'
import type { LogSession } from '@shardlab/storage'
import { giveUpTurn } from '@shardlab/member'
import type { SourceReads } from '../cursors/source-reads.js'
import type { ExecutedStatement } from '../retry/executed-statement.js'
import { isStaleError } from './write-errors.js'
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
  const entered = host.role.enter(scope.ns, scope.invocation)
  scope.access = entered instanceof Promise ? await entered : entered
  operation.checkForInterrupt()
  scope.announce?.()
}

export interface PausedStatement {
  readonly reads: SourceReads
  readonly session: LogSession | null
  /** Whether it cannot be sent again when the placement changes: a part of its updates is done. */
  readonly isPartial: boolean
}

/**
 * Within a statement, as {@link yieldBetween}.
 * @throws CommandError 175 QueryPlanKilled when the collection is gone, or when the placement has
 *   changed in the middle of an update of many documents; 225 TransactionTooOld
 * @throws StatementExecutedError
 */
export async function yieldWithin(scope: WriteScope, { reads, session, isPartial }: PausedStatement): Promise<void> {
  const { host, retryable } = scope.invocation
  host.cursors.pausedReads.add(reads)
  try {
    await yieldBetween(scope)
  } catch (error) {
    if (!isPartial || !(error instanceof CommandError) || !isStaleError(error)) throw error
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
