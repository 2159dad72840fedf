/** Labels that tell drivers what to do with a failure. Server: error_labels.cpp; manual: core/retryable-writes. */
import { CommandError, findField, isRetriableErrorCode } from '@shardlab/bson'

const shutdownCodes: ReadonlySet<number> = new Set([91, 11600])

/**
 * The failure of a client's command, with `RetryableWriteError` where a retryable write may be sent again. Routers have retried what
 * shards failed with: they say it of their own end only.
 */
export function withErrorLabels(error: CommandError, body: Uint8Array, role: 'mongos' | 'mongod'): CommandError {
  const retriable = role === 'mongos' ? shutdownCodes.has(error.code) : isRetriableErrorCode(error.code)
  if (!retriable || error.errorLabels.includes('RetryableWriteError') || findField(body, 'txnNumber') === undefined) return error
  const { code, message, errorLabels, extra } = error
  return new CommandError(code, message, { errorLabels: [...errorLabels, 'RetryableWriteError'], extra, cause: error })
}
