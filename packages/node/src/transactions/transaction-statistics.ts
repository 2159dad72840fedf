import type { DocumentWriter } from '@shardlab/bson'
import type { Transaction } from './transaction.js'

/** Since the start of this member. Server: server_transactions_metrics.cpp. */
export class TransactionStatistics {
  started = 0
  aborted = 0
  committedCount = 0
  prepared = 0
  preparedThenCommitted = 0
  preparedThenAborted = 0
  /** Statements of retryable writes that were not executed again, and the commands with some. */
  retriedStatements = 0
  retriedCommands = 0
  /** Transactions of several shards that this one coordinates if they need two phases. */
  coordinatorsCreated = 0
  /** Of the transaction that has committed last. */
  lastOperationCount = 0
  lastOperationBytes = 0

  committed(operationCount: number, operationBytes: number): void {
    this.committedCount++
    this.lastOperationCount = operationCount
    this.lastOperationBytes = operationBytes
  }

  retried(statements: number): void {
    if (statements === 0) return
    this.retriedStatements += statements
    this.retriedCommands++
  }

  /**
   * @param all the open ones
   * @param collectionWrites to config.transactions
   */
  write(writer: DocumentWriter, all: readonly Transaction[], collectionWrites: number): void {
    const open = all.length
    const active = all.filter(({ operation }) => operation !== null).length
    const prepared = all.filter(({ state }) => state === 'prepared').length
    writer
      .int64('retriedCommandsCount', this.retriedCommands)
      .int64('retriedStatementsCount', this.retriedStatements)
      .int64('transactionsCollectionWriteCount', collectionWrites)
      .int64('currentActive', active)
      .int64('currentInactive', open - active)
      .int64('currentOpen', open)
      .int64('totalAborted', this.aborted)
      .int64('totalCommitted', this.committedCount)
      .int64('totalStarted', this.started)
      .int64('totalPrepared', this.prepared)
      .int64('totalPreparedThenCommitted', this.preparedThenCommitted)
      .int64('totalPreparedThenAborted', this.preparedThenAborted)
      .int64('currentPrepared', prepared)
      .startDocument('lastCommittedTransaction')
      .int64('operationCount', this.lastOperationCount)
      .int64('oplogOperationBytes', this.lastOperationBytes)
      .end()
  }
}
