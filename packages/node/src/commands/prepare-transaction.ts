import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { NodeInvocation } from '../host/node-host.js'
import { hasAborted, hasCommitted } from '../transactions/transaction-errors.js'
import { onCluster } from '@shardlab/member'

/** Server: txn_two_phase_commit_cmds.cpp. */
export const prepareTransaction: CommandRow<NodeInvocation> = {
  name: 'prepareTransaction',
  access: 'admin',
  privileges: onCluster('internal'),
  adminOnly: true,
  manual: 'reference/command/commitTransaction',
  behaviour: 'shardedTransactions',
  routing: 'local',
  status: 'full',
  summary: 'Prepares a transaction for its coordinator.',
  fields: {},
  async run({ host, transaction: statement }) {
    if (host.role.name !== 'shard')
      throw new CommandError('CommandFailed', 'prepareTransaction can only be run on shards')
    if (statement === undefined)
      throw new CommandError('CommandFailed', 'prepareTransaction must be run within a transaction')
    const { transactions, behaviours } = host
    const transaction = transactions.find(statement.session, statement.txnNumber)
    if (transaction === null) throw hasCommitted(statement.txnNumber, behaviours)
    await host.context.reach('shard.transaction.preparing', {})
    // It may have ended during the step.
    if (!transaction.isOpen) throw hasAborted(statement.txnNumber, behaviours)
    const [seconds, increment] = transactions.prepare(transaction)
    await host.flushToMajority()
    await host.context.reach('shard.transaction.prepared', {})
    return new DocumentWriter(64).timestamp('prepareTimestamp', seconds, increment)
  },
}
