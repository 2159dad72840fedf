/**
 * Runs the statements of a write command in order, each once, and stops where the server stops.
 * Server: write_ops_exec.cpp.
 */
import { CommandError, type DocumentWriter } from '@shardlab/bson'
import type { LogSession } from '@shardlab/storage'
import { checkStages, isStaleCode, type WriteKind, statementsOf, writeRetriedStmtIds } from '@shardlab/member'
import type { ExecutedStatement } from '../retry/executed-statement.js'
import { checkCollectionUuid } from '../ddl/collection-uuid.js'
import { checkWrittenName } from '../ddl/namespace.js'
import { writeWriteErrors, type WriteError } from './write-errors.js'
import { sliceOf, writeScope, type WriteScope } from './write-scope.js'
import { TransactionConflict } from '../transactions/write-keys.js'
import { failsBatch } from './fails-batch.js'
import { StatementExecutedError, yieldBetween, yieldToTransaction } from './yield-write.js'
import type { NodeInvocation, RetryableWrite } from '../host/node-host.js'

/** Limits of the statements that one call of `runMany` receives. */
const runTogetherMax = 1000
const runTogetherMin = 4

export interface StatementRunner {
  readonly kind: WriteKind
  /**
   * @param session for the log entries of the statement
   * @throws CommandError that becomes a write error
   */
  run(statement: Uint8Array, index: number, scope: WriteScope, session: LogSession | null): Promise<void> | void
  /**
   * Runs up to `limit` statements, from position `from` on. Absent: statements run one by one.
   * @returns number of statements run
   */
  runMany?(statements: readonly Uint8Array[], from: number, limit: number, scope: WriteScope): number
  /** Adds the result of a statement that was executed before, without running it again. */
  repeat(executed: ExecutedStatement, index: number): void
}

/** Writes `writeErrors` and `retriedStmtIds` of a completed batch. */
export type BatchTail = (writer: DocumentWriter) => DocumentWriter

/**
 * @throws CommandError those of {@link statementsOf}, and errors of the role that refuse the whole
 * command
 */
export async function runWriteBatch(invocation: NodeInvocation, runner: StatementRunner): Promise<BatchTail> {
  const { host, args, db, retryable } = invocation
  const ns = args.namespace(db)
  checkWrittenName(host, ns)
  const statements = statementsOf(invocation, runner.kind)
  const ordered = args.bool('ordered') ?? true
  const entered = host.role.enter(ns, invocation)
  const scope = writeScope(invocation, ns, entered instanceof Promise ? await entered : entered)
  checkCollectionUuid(host, ns, args)
  const errors: WriteError[] = []
  const retried: number[] = []
  const sampling = runner.kind === 'update' && host.sampling?.isActive === true ? host.sampling : null
  let together = runTogetherMax
  for (let index = 0; index < statements.length; index++) {
    try {
      if (scope.slice?.isOver === true) await yieldBetween(scope)
      if (runner.runMany !== undefined && index + 1 < statements.length) {
        const done = runner.runMany(statements, index, together, scope)
        // The same obstacle may recur, so prepare at most twice as many statements as were run.
        together = Math.min(runTogetherMax, Math.max(runTogetherMin, 2 * done))
        index += done
        if (index === statements.length) break
        sliceOf(scope).add(done)
        if (sliceOf(scope).isOver) await yieldBetween(scope)
      }
      const stmtId = retryable?.stmtId(index) ?? index
      const executed =
        retryable === null ? undefined : host.retries.executed(retryable.session.key, retryable.txnNumber, stmtId)
      if (executed !== undefined) {
        retried.push(stmtId)
        runner.repeat(executed, index)
        continue
      }
      if (sampling !== null) {
        const statement = statements[index]!
        scope.announce = () => sampling.statementBegins(ns, statement, invocation)
        scope.announce()
      }
      const running = runner.run(statements[index]!, index, scope, logSession(retryable, stmtId))
      if (running !== undefined) await running
      if (statements.length > 1) sliceOf(scope).worked()
    } catch (error) {
      if (error instanceof StatementExecutedError) {
        retried.push(retryable!.stmtId(index))
        runner.repeat(error.executed, index)
        continue
      }
      if (!(error instanceof CommandError)) throw error
      if (error instanceof TransactionConflict) {
        await yieldToTransaction(scope, error.holder)
        index--
        continue
      }
      if (failsBatch(error, invocation)) {
        await host.flush()
        throw error
      }
      errors.push({ index, error })
      // A stale router gets no further results, not even of an unordered batch.
      if (ordered || isStaleCode(error.code)) break
    }
  }
  host.transactions.statistics.retried(retried.length)
  await host.flush()
  if (errors.length > 0 && runner.kind === 'update') checkStages(statements, scope.evaluation)
  return (writer) => {
    writeWriteErrors(writer, errors, host.behaviours.writeErrorMessageFirst)
    return writeRetriedStmtIds(writer, retried)
  }
}

/** null: the command is not retryable */
export function logSession(retryable: RetryableWrite | null, stmtId: number): LogSession | null {
  return retryable === null
    ? null
    : { lsid: retryable.session.document, txnNumber: retryable.txnNumber, stmtIds: [stmtId] }
}
