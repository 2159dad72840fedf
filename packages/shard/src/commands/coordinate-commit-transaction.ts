import type { CommandRow } from '@shardlab/actor'
import { CommandError, documentsOf, DocumentWriter, findField } from '@shardlab/bson'
import type { NodeInvocation, TransactionStatement } from '@shardlab/node'
import { shardOf } from '../host/shard-of.js'
import type { Decision } from '../transactions/coordinator-record.js'
import { onCluster } from '@shardlab/member'

/** Server: txn_two_phase_commit_cmds.cpp. */
export const coordinateCommitTransaction: CommandRow<NodeInvocation> = {
  name: 'coordinateCommitTransaction',
  access: 'admin',
  privileges: onCluster('internal'),
  adminOnly: true,
  manual: 'reference/command/commitTransaction',
  behaviour: 'shardedTransactions',
  routing: 'local',
  status: 'full',
  summary: 'Coordinates the commit of a transaction on several shards, or returns how it has ended.',
  fields: { participants: 'array!' },
  async run({ host, args, operation, transaction: statement }) {
    if (statement === undefined)
      throw new CommandError('CommandFailed', 'coordinateCommitTransaction must be run within a transaction')
    const { coordinators } = shardOf(host)
    const { session, txnNumber } = statement
    const participants = documentsOf(args.value('participants')!).map((each) => findField(each, 'shardId')!.asString())
    const running = coordinators.running(session, txnNumber)
    // A commit that is over here is not begun again.
    const begins = running === undefined && participants.length > 0 && isOpenHere(host, statement)
    const deciding = begins ? coordinators.coordinate(session, txnNumber, participants) : running
    if (deciding === undefined) await recoverHere({ host, operation }, statement)
    else checkCommitted(await operation.interruptible(deciding))
    return new DocumentWriter(64)
  },
}

function isOpenHere({ transactions }: NodeInvocation['host'], { session, txnNumber }: TransactionStatement): boolean {
  return transactions.find(session, txnNumber)?.state === 'in-progress'
}

/** @throws CommandError 251 NoSuchTransaction: it has aborted */
function checkCommitted(decision: Decision): void {
  if (decision.outcome === 'commit') return
  const { message, code } = decision.cause
  throw code === noSuchTransaction ? decision.cause : new CommandError('NoSuchTransaction', message)
}

const noSuchTransaction = 251

/**
 * Without a coordinator the local participant knows: one that is not prepared aborts.
 * @throws CommandError 251
 */
async function recoverHere(
  { host, operation }: Pick<NodeInvocation, 'host' | 'operation'>,
  { session, txnNumber }: TransactionStatement,
): Promise<void> {
  const { transactions } = host
  const transaction = transactions.find(session, txnNumber)
  if (transaction?.state === 'prepared') await host.context.all([operation.interruptible(transaction.ended)])
  else if (transaction !== null) transactions.abort(transaction)
  // Throws unless it has committed.
  if (transactions.find(session, txnNumber) !== null) throw new Error('an ended transaction is open')
  await host.flush()
}
