import { emptyDocument, type DocumentWriter } from '@shardlab/bson'
import { reportedWriteConcern } from '@shardlab/member'
import type { Behaviours } from '@shardlab/sharding'
import type { Transaction } from './transaction.js'

interface LastCommitted {
  readonly operationCount: number
  readonly oplogOperationBytes: number
  readonly writeConcern: Uint8Array | null
}

export interface TransactionStatisticsRequest {
  readonly open: readonly Transaction[]
  /** To config.transactions. */
  readonly collectionWrites: number
  readonly behaviours: Behaviours
  readonly withLastCommitted: boolean
}

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
  #lastCommitted: LastCommitted | null = null

  /**
   * @param writeConcern with which the commit is acknowledged, as it was sent, or the implicit one.
   *   Null: the command named none, and the version has no implicit one.
   */
  committed({ operations, sizeBytes }: Transaction, writeConcern: Uint8Array | null): void {
    this.committedCount++
    this.#lastCommitted = {
      operationCount: operations.length,
      oplogOperationBytes: sizeBytes,
      // Copied: a view would keep its whole message alive.
      writeConcern: writeConcern === null ? null : new Uint8Array(writeConcern),
    }
  }

  retried(statements: number): void {
    if (statements === 0) return
    this.retriedStatements += statements
    this.retriedCommands++
  }

  write(
    writer: DocumentWriter,
    { open, collectionWrites, behaviours, withLastCommitted }: TransactionStatisticsRequest,
  ): void {
    const active = open.filter(({ operation }) => operation !== null).length
    writer
      .int64('retriedCommandsCount', this.retriedCommands)
      .int64('retriedStatementsCount', this.retriedStatements)
      .int64('transactionsCollectionWriteCount', collectionWrites)
      .int64('currentActive', active)
      .int64('currentInactive', open.length - active)
      .int64('currentOpen', open.length)
      .int64('totalAborted', this.aborted)
      .int64('totalCommitted', this.committedCount)
      .int64('totalStarted', this.started)
    if (behaviours.shardedTransactions)
      writer
        .int64('totalPrepared', this.prepared)
        .int64('totalPreparedThenCommitted', this.preparedThenCommitted)
        .int64('totalPreparedThenAborted', this.preparedThenAborted)
        .int64('currentPrepared', open.filter(({ state }) => state === 'prepared').length)
    const last = this.#lastCommitted
    if (last !== null && withLastCommitted)
      writer
        .startDocument('lastCommittedTransaction')
        .int64('operationCount', last.operationCount)
        .int64('oplogOperationBytes', last.oplogOperationBytes)
        .document(
          'writeConcern',
          last.writeConcern === null ? emptyDocument : reportedWriteConcern(last.writeConcern, behaviours),
        )
        .end()
  }
}
