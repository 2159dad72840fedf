/**
 * A transaction that the router runs for one command of a client. Server: transaction_api.cpp;
 * document_shard_key_update_util.cpp, startTransactionForShardKeyUpdate.
 */
import { CommandError, DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import type { SessionId } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { abortImplicitly, commit } from './end-transaction.js'
import { codeOfWriteError } from './write-error-code.js'

/** The command of the client as it runs in the transaction. Returns the fields of its reply. */
export type Work = (inside: MongosInvocation) => Promise<DocumentWriter>

/**
 * Runs a retryable write as the transaction with its own number. Shards that take part refuse to
 * repeat the write later: 217 IncompleteTransactionHistory.
 * @returns the reply of the work, with the errors of statements, after which the transaction has
 *   aborted; or with that of the write concern
 * @throws CommandError of the work and of the commit; 117 ConflictingOperationInProgress
 */
export function convertToTransaction(invocation: MongosInvocation, work: Work): Promise<DocumentWriter> {
  return runOnce(invocation, invocation.session!, invocation.txnNumber!, (inside) =>
    work({ ...inside, txnNumber: null }),
  )
}

async function runOnce(
  invocation: MongosInvocation,
  session: SessionId,
  txnNumber: bigint,
  work: Work,
): Promise<DocumentWriter> {
  const { host, operation } = invocation
  const transaction = host.transactions.start(session, txnNumber)
  transaction.isInternal = true
  transaction.beginStatement(null, null)
  operation.transaction = transaction
  try {
    const reply = (await work(withoutConcerns(invocation))).finish()
    const code = codeOfWriteError(reply)
    const writer = new DocumentWriter(reply.length + 256).fields(reply)
    if (code !== null) {
      await abortImplicitly(invocation, transaction, code)
      return writer
    }
    const concernError = findField((await commit(invocation, transaction)).finish(), 'writeConcernError')
    return concernError === undefined ? writer : writer.value('writeConcernError', concernError)
  } catch (error) {
    await abortImplicitly(invocation, transaction, error instanceof CommandError ? error.code : internalError)
    throw error
  } finally {
    operation.transaction = null
  }
}

const internalError = 1

/** The commit has the write concern. */
function withoutConcerns(invocation: MongosInvocation): MongosInvocation {
  const { body, concerns } = invocation
  if (findField(body, 'writeConcern') === undefined) return invocation
  const writer = new DocumentWriter(body.length)
  for (const it = new FieldIterator(body); it.next();)
    if (it.name() !== 'writeConcern') writer.value(it.name(), it.value())
  return { ...invocation, body: writer.finish(), concerns: { ...concerns, write: null } }
}
