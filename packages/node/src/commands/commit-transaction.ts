import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { commitTransactionSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

export const commitTransaction: CommandRow<NodeInvocation> = {
  ...commitTransactionSpec,
  behaviour: 'transactions',
  routing: 'local',
  status: 'full',
  summary: 'Commits a transaction.',
  async run({ host, transaction: statement }) {
    if (statement === undefined)
      throw new CommandError('CommandFailed', 'commitTransaction must be run within a transaction')
    const { transactions } = host
    const transaction = transactions.find(statement.session, statement.txnNumber)
    // It is answered as before when it has committed: the reply may have been lost.
    if (transaction !== null) transactions.commit(transaction)
    await host.flush()
    return new DocumentWriter(64)
  },
}
