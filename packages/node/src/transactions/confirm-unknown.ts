/**
 * A primary that has been replaced does not know what its successor has committed. So it says that
 * there is no transaction only when its history has reached enough members. Server:
 * service_entry_point_shard_role.cpp, RunCommandAndWaitForWriteConcern; performNoopWrite in
 * transaction_participant.cpp.
 */
import { commandErrorOf, type CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, ErrorCodes } from '@shardlab/bson'
import { takesWriteConcern } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'
import { awaitWriteConcern, concernOf } from '../replication/concerns/write-concern.js'

/**
 * Waits for the write concern of a commit or abort that has failed because there is no such
 * transaction.
 * @returns resolves with the failure, with `writeConcernError` if the concern is not satisfied;
 *   null: the failure needs no confirmation
 */
export function confirmUnknown(
  row: CommandRow<NodeInvocation>,
  invocation: NodeInvocation,
  failure: CommandError,
): Promise<CommandError> | null {
  if (failure.code !== ErrorCodes.NoSuchTransaction || !takesWriteConcern(row, invocation.args)) return null
  return concernOf(invocation) === null ? null : confirm(invocation, failure)
}

async function confirm(invocation: NodeInvocation, failure: CommandError): Promise<CommandError> {
  const { host, operation } = invocation
  try {
    if (!host.set.isWritablePrimary)
      throw new CommandError('NotWritablePrimary', 'Not primary when performing noop write for NoSuchTransaction error')
    host.set.appendNoop('NoSuchTransaction error')
    const waited = await awaitWriteConcern(invocation)
    if (waited === null) return failure
    const extra = new DocumentWriter(waited.length + 64)
    if (failure.extra !== null) extra.fields(failure.extra)
    return new CommandError(failure.code, failure.message, {
      errorLabels: failure.errorLabels,
      extra: extra.document('writeConcernError', waited).finish(),
      cause: failure,
    })
  } catch (error) {
    return commandErrorOf(error, operation.command, host.context)
  }
}
