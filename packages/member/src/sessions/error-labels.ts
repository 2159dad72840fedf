/**
 * Drivers decide by error labels what to do after a failure. Server: error_labels.cpp. Manual:
 * core/retryable-writes.
 */
import type { Cancellation } from '@shardlab/actor'
import {
  CommandError,
  ErrorCodes,
  findField,
  firstFieldName,
  isRetriableErrorCode,
  isTransientTransactionError,
} from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { endsTransaction } from './transaction-commands.js'

const shutdownCodes: ReadonlySet<number> = new Set([ErrorCodes.ShutdownInProgress, ErrorCodes.InterruptedAtShutdown])

export interface LabellingMember {
  readonly process: 'mongos' | 'mongod'
  readonly behaviours: Behaviours
  readonly stopping: Cancellation
}

/**
 * Adds `TransientTransactionError` where the client may run its transaction again, and else
 * `RetryableWriteError` where it may retry its write, commit or abort. A router has already retried
 * errors of shards, so it adds the second label only to its own shutdown errors.
 */
export function withErrorLabels(error: CommandError, body: Uint8Array, member: LabellingMember): CommandError {
  const { code } = error
  const isInTransaction = findField(body, 'autocommit') !== undefined
  const ends = isInTransaction && endsTransaction(firstFieldName(body) ?? '')
  if (isInTransaction && member.behaviours.transactions && isTransient(error, ends))
    return labelled(error, 'TransientTransactionError')
  if (!member.behaviours.retryableWriteErrorLabel || (isInTransaction && !ends)) return error
  const retriable =
    member.process === 'mongos' ? member.stopping.signal.aborted && shutdownCodes.has(code) : isRetriableErrorCode(code)
  if (!retriable || findField(body, 'txnNumber') === undefined) return error
  return labelled(error, 'RetryableWriteError')
}

/** As {@link isTransientTransactionError} of the error's code. */
export function isTransient({ code, extra }: CommandError, ends: boolean): boolean {
  const hasWriteConcernError = extra !== null && findField(extra, 'writeConcernError') !== undefined
  return isTransientTransactionError(code, ends, hasWriteConcernError)
}

function labelled(error: CommandError, label: string): CommandError {
  return error.errorLabels.includes(label) ? error : relabelled(error, [...error.errorLabels, label])
}

/** Whether a client may retry a write whose write concern failed with this code. */
export function mayRetryAfter(writeConcernCode: number, body: Uint8Array, { behaviours }: LabellingMember): boolean {
  return (
    behaviours.retryableWriteErrorLabel &&
    isRetriableErrorCode(writeConcernCode) &&
    findField(body, 'txnNumber') !== undefined
  )
}

export function relabelled(error: CommandError, errorLabels: readonly string[]): CommandError {
  const { code, message, extra } = error
  return new CommandError(code, message, { errorLabels, extra, cause: error })
}
