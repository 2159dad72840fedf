/**
 * A retryable write that gives a document a shard key value of another shard runs again, as the
 * transaction with its number. Server: cluster_write_cmd.cpp, handleWouldChangeOwningShardError.
 */
import { CommandError, DocumentWriter, ErrorCodes } from '@shardlab/bson'
import type { MongosInvocation } from '../../host/mongos-host.js'
import { convertToTransaction } from '../../transactions/internal-transaction.js'
import { BatchWriteExecutor } from '../batch/batch-write-executor.js'
import type { WriteCommand } from '../write-command.js'
import { inConversion } from './move-document.js'

type Run = (inside: MongosInvocation) => Promise<DocumentWriter>

/**
 * The executor that has run the command, and its reply.
 * @throws CommandError of {@link BatchWriteExecutor.run}
 */
export async function runMovingDocuments(
  invocation: MongosInvocation,
  command: WriteCommand,
): Promise<{ readonly executor: BatchWriteExecutor; readonly reply: DocumentWriter }> {
  const executor = new BatchWriteExecutor(invocation, command)
  const reply = await executor.run()
  return executor.mustRunInTransaction ? writeConverted(invocation, command) : { executor, reply }
}

async function writeConverted(
  invocation: MongosInvocation,
  command: WriteCommand,
): ReturnType<typeof runMovingDocuments> {
  let executor: BatchWriteExecutor | null = null
  try {
    const reply = await convert(invocation, command.namespaces[0]!.ns, async (inside) => {
      executor = new BatchWriteExecutor(inside, command)
      const written = await executor.run()
      executor.throwFailure()
      return written
    })
    return { executor: executor!, reply }
  } catch (error) {
    if (!(error instanceof CommandError) || error.code === ErrorCodes.MaxTimeMSExpired) throw error
    const failed = new BatchWriteExecutor(invocation, command)
    return { executor: failed, reply: failed.replyWith(inConversion(error, null)) }
  }
}

/** @throws CommandError of the work and of the transaction */
async function convert(invocation: MongosInvocation, ns: string, run: Run): Promise<DocumentWriter> {
  await invocation.host.reach('mongos.document-move.begun', { ns })
  const { result, concernError } = await convertToTransaction(invocation, async (inside) =>
    (await run(inside)).finish(),
  )
  const writer = new DocumentWriter(result.length + 256).fields(result)
  return concernError === null ? writer : writer.document('writeConcernError', concernError)
}

/** @throws CommandError of {@link convert}, with the text of findAndModify */
export async function modifyConverted(invocation: MongosInvocation, ns: string, run: Run): Promise<DocumentWriter> {
  try {
    return await convert(invocation, ns, run)
  } catch (error) {
    throw error instanceof CommandError && error.code !== ErrorCodes.MaxTimeMSExpired
      ? inConversion(error, 'findAndModify')
      : error
  }
}
