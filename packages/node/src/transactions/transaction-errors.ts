/** Server: transaction_participant.cpp (beginOrContinue, _checkIsCommandValidWithTxnState). */
import type { TimestampPair } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { SessionId } from '@shardlab/member'
import type { Behaviours } from '@shardlab/sharding'
import type { TransactionState } from '../retry/retry-history-image.js'
import { sessionText } from '../retry/session-text.js'
import type { Transaction } from './transaction.js'

/**
 * The newest transaction of the session is prepared, so commands with newer numbers wait for its
 * end.
 */
export class SessionIsPrepared extends CommandError {
  readonly holder: Transaction

  constructor(holder: Transaction) {
    super(
      'PreparedTransactionInProgress',
      `Cannot start a new transaction while transaction ${holder.txnNumber} of the session is prepared`,
    )
    this.name = 'SessionIsPrepared'
    this.holder = holder
  }
}

type Texts = Pick<Behaviours, 'transactionTextsAreStructured'>

export interface NewestNumber {
  readonly txnNumber: bigint
  readonly transaction: TransactionState | null
  /** Of the retryable write. */
  readonly statementCount: number
  /** Statements of the retryable write are not known any more. */
  readonly isIncomplete: boolean
}

/** @throws CommandError 225 TransactionTooOld */
export function checkNumber(
  { key }: SessionId,
  txnNumber: bigint,
  newest: NewestNumber | undefined,
  { transactionTextsAreStructured: isStructured }: Texts,
): void {
  if (newest === undefined || txnNumber >= newest.txnNumber) return
  const what = newest.transaction === null ? 'retryable write' : 'transaction'
  const [mine, theirs] = isStructured
    ? [
        `with { txnNumber: ${txnNumber} }`,
        `txnNumberAndRetryCounter { txnNumber: ${newest.txnNumber}, txnRetryCounter: 0 }`,
      ]
    : [String(txnNumber), `txnNumber ${newest.txnNumber}`]
  throw new CommandError(
    'TransactionTooOld',
    `Cannot start transaction ${mine} on session ${sessionText(key)} because a newer ${what} with ${theirs} has already started on this session.`,
  )
}

/**
 * For a transaction with the newest number. Routers start one again on a shard that has not
 * prepared it, and convert a retryable write that has executed nothing.
 * @throws CommandError 117 ConflictingOperationInProgress, 50911
 */
export function checkRestart(
  txnNumber: bigint,
  { transaction: state, statementCount, isIncomplete }: Omit<NewestNumber, 'txnNumber'>,
  role: string,
): void {
  if (role === 'mongod')
    throw new CommandError(
      'ConflictingOperationInProgress',
      'Only servers in a sharded cluster can start a new transaction at the active transaction number',
    )
  if (state === 'abortedWithoutPrepare' || (state === null && statementCount === 0 && !isIncomplete)) return
  throw new CommandError(
    50_911,
    `Cannot start a transaction at given transaction number ${txnNumber} a transaction with the same number is in state ${stateText(state)}`,
  )
}

function stateText(state: TransactionState | null): string {
  if (state === null) return 'TxnState::ExecutedRetryableWrite'
  if (state === 'aborted') return 'TxnState::AbortedAfterPrepare'
  return `TxnState::${state[0]!.toUpperCase()}${state.slice(1)}`
}

export function noSuchTransaction(txnNumber: bigint, newest: bigint): CommandError {
  return new CommandError(
    'NoSuchTransaction',
    `Given transaction number ${txnNumber} does not match any in-progress transactions. The active transaction number is ${newest}`,
  )
}

export function hasAborted(txnNumber: bigint, texts: Texts): CommandError {
  return new CommandError('NoSuchTransaction', `${named(txnNumber, texts)} has been aborted.`)
}

export function hasCommitted(txnNumber: bigint, texts: Texts): CommandError {
  return new CommandError('TransactionCommitted', `${named(txnNumber, texts)} has been committed.`)
}

function named(txnNumber: bigint, { transactionTextsAreStructured }: Texts): string {
  return transactionTextsAreStructured ? `Transaction with { txnNumber: ${txnNumber} }` : `Transaction ${txnNumber}`
}

export function commandOnPrepared(): CommandError {
  return new CommandError(
    'PreparedTransactionInProgress',
    'Cannot call any operation other than abort, prepare or commit on a prepared transaction',
  )
}

export function exceededLifetime(): CommandError {
  return new CommandError(
    'TransactionExceededLifetimeLimitSeconds',
    "operation was interrupted because the transaction exceeded the configured 'transactionLifetimeLimitSeconds'",
  )
}

/**
 * @param arrival of the range
 * @param snapshot of the transaction
 */
export function hasReceivedRange(ns: string, arrival: TimestampPair, snapshot: TimestampPair): CommandError {
  return new CommandError(
    'MigrationConflict',
    `Collection ${ns} has undergone a catalog change operation at time ${arrival[0]}:${arrival[1]} and no longer satisfies the requirements for the current transaction which requires ${snapshot[0]}:${snapshot[1]}. Transaction will be aborted.`,
  )
}
