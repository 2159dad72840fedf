/** Labels that tell drivers what to do with a failure. Server: error_labels.cpp; manual: core/retryable-writes. */
import type { Cancellation } from '@shardlab/actor'
import { CommandError, findField, isRetriableErrorCode } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'

const shutdownCodes: ReadonlySet<number> = new Set([91, 11600])

/** Who answers. */
export interface LabellingMember {
  readonly process: 'mongos' | 'mongod'
  readonly behaviours: Behaviours
  readonly stopping: Cancellation
}

/**
 * The failure of a client's command, with `RetryableWriteError` where a retryable write may be sent again. Routers have retried what
 * shards failed with: they say it of their own end only.
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

/** The failure with these labels and no others. */
export function relabelled(error: CommandError, errorLabels: readonly string[]): CommandError {
  const { code, message, extra } = error
  return new CommandError(code, message, { errorLabels, extra, cause: error })
}
