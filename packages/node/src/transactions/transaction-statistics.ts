import type { DocumentWriter } from '@shardlab/bson'

export interface OpenCounts {
  readonly open: number
  readonly active: number
  readonly prepared: number
}

/** Since the start of this member. Server: server_transactions_metrics.cpp. */
export class TransactionStatistics {
  started = 0
  aborted = 0
  committedCount = 0
  prepared = 0
  preparedThenCommitted = 0
  preparedThenAborted = 0
  /** Of the transaction that has committed last. */
  lastOperationCount = 0
  lastOperationBytes = 0

  committed(operationCount: number, operationBytes: number): void {
    this.committedCount++
    this.lastOperationCount = operationCount
    this.lastOperationBytes = operationBytes
  }

  write(writer: DocumentWriter, { open, active, prepared }: OpenCounts): void {
    writer
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
