import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { abortTransactionSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { abort } from '../transactions/end-transaction.js'

export const abortTransaction: CommandRow<MongosInvocation> = {
  ...abortTransactionSpec,
  behaviour: 'shardedTransactions',
  routing: 'all-shards',
  status: 'full',
  summary: 'Aborts a transaction on the shards that take part in it.',
  async run(invocation) {
    const { transaction } = invocation.operation
    if (transaction === null)
      throw new CommandError('CommandFailed', 'abortTransaction must be run within a transaction')
    return abort(invocation, transaction)
  },
}
