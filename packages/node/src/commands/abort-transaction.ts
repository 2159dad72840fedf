import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { abortTransactionSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'
import { hasCommitted } from '../transactions/transaction-errors.js'

export const abortTransaction: CommandRow<NodeInvocation> = {
  ...abortTransactionSpec,
  behaviour: 'transactions',
  routing: 'local',
  status: 'full',
  summary: 'Aborts a transaction.',
  async run({ host, transaction: statement }) {
    if (statement === undefined)
      throw new CommandError('CommandFailed', 'abortTransaction must be run within a transaction')
    const { transactions, behaviours } = host
    const transaction = transactions.find(statement.session, statement.txnNumber)
    if (transaction === null) throw hasCommitted(statement.txnNumber, behaviours)
    transactions.abort(transaction)
    await host.flush()
    return new DocumentWriter(64)
  },
}
