import type { SessionKey } from '@shardlab/member'
import type { OpTime } from '@shardlab/storage'
import type { ExecutedStatement } from './executed-statement.js'
import type { InsertedRun } from './inserted-run.js'

/** Statements on one namespace. A bulkWrite has several. */
export interface StatementsImage {
  readonly ns: string
  readonly statements: readonly ({ readonly stmtId: number } & ExecutedStatement)[]
  readonly runs: readonly InsertedRun[]
}

/**
 * Server: `state` of config.transactions, where `aborted` follows a prepare. The log has no entry
 * of a transaction that was aborted without one.
 */
export type TransactionState = 'inProgress' | 'prepared' | 'committed' | 'aborted' | 'abortedWithoutPrepare'

/** @param state null: a retryable write */
export function hasEnded(state: TransactionState | null): boolean {
  return state !== null && state !== 'inProgress' && state !== 'prepared'
}

export interface SessionImage {
  readonly key: SessionKey
  readonly txnNumber: bigint
  /** Server: `lastWriteDate` of config.transactions. */
  readonly lastWriteAtMs: number
  /** Server: `lastWriteOpTime`. Null: another member has logged the write. */
  readonly lastOpTime: OpTime | null
  /** Some of its statements were dropped. */
  readonly isIncomplete: boolean
  /** Null: a retryable write. */
  readonly transaction: TransactionState | null
  readonly namespaces: readonly StatementsImage[]
}

export type RetryHistoryImage = readonly SessionImage[]
