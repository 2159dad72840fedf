import { timestampPair, type CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, type RawValue } from '@shardlab/bson'
import { commitTransactionSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'
import { concernOf } from '../replication/concerns/write-concern.js'
import type { Transaction } from '../transactions/transaction.js'

export const commitTransaction: CommandRow<NodeInvocation> = {
  ...commitTransactionSpec,
  behaviour: 'transactions',
  routing: 'local',
  status: 'full',
  summary: 'Commits a transaction.',
  async run(invocation) {
    const { host, args, transaction: statement } = invocation
    if (statement === undefined)
      throw new CommandError('CommandFailed', 'commitTransaction must be run within a transaction')
    const { transactions } = host
    const transaction = transactions.find(statement.session, statement.txnNumber)
    // It is answered as before when it has committed: the reply may have been lost.
    if (transaction !== null) commit(invocation, transaction, args.value('commitTimestamp'))
    await host.flush()
    return new DocumentWriter(64)
  },
}

/** @param time in requests of coordinators. @throws CommandError 72 InvalidOptions */
function commit(invocation: NodeInvocation, transaction: Transaction, time: RawValue | undefined): void {
  const { transactions } = invocation.host
  const concern = concernOf(invocation)
  if (transaction.state === 'prepared') {
    if (time === undefined) throw new CommandError('InvalidOptions', "'commitTimestamp' cannot be null")
    transactions.commitPrepared(transaction, timestampPair(time), concern)
    return
  }
  if (time !== undefined)
    throw new CommandError('InvalidOptions', 'commitTransaction provided commitTimestamp to a non-prepared transaction')
  transactions.commit(transaction, concern)
}
