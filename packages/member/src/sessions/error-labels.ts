/**
 * Drivers decide by error labels what to do after a failure. Server: error_labels.cpp. Manual:
 * core/retryable-writes.
 */
import type { Cancellation } from '@shardlab/actor'
import { CommandError, findField, isRetriableErrorCode } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'

const shutdownCodes: ReadonlySet<number> = new Set([91, 11600])

export interface LabellingMember {
  readonly process: 'mongos' | 'mongod'
  readonly behaviours: Behaviours
  readonly stopping: Cancellation
}

/**
 * Adds `RetryableWriteError` where the client may retry its write. A router has already retried
 * errors of shards, so it adds the label only to its own shutdown errors.
 */
export function withErrorLabels(error: CommandError, body: Uint8Array, member: LabellingMember): CommandError {
  if (!member.behaviours.retryableWriteErrorLabel) return error
  const { code } = error
  const retriable =
    member.process === 'mongos' ? member.stopping.signal.aborted && shutdownCodes.has(code) : isRetriableErrorCode(code)
  if (!retriable || error.errorLabels.includes('RetryableWriteError') || findField(body, 'txnNumber') === undefined)
    return error
  return relabelled(error, [...error.errorLabels, 'RetryableWriteError'])
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
