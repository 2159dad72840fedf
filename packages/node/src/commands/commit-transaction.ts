import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { NodeInvocation } from '../host/node-host.js'

export const commitTransaction: CommandRow<NodeInvocation> = {
  name: 'commitTransaction',
  access: 'admin',
  adminOnly: true,
  apiVersion1: true,
  manual: 'reference/command/commitTransaction',
  behaviour: 'transactions',
  fields: { recoveryToken: 'object' },
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
