import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { commitTransactionSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { commit } from '../transactions/end-transaction.js'

export const commitTransaction: CommandRow<MongosInvocation> = {
  ...commitTransactionSpec,
  behaviour: 'shardedTransactions',
  routing: 'all-shards',
  status: 'full',
  summary: 'Commits a transaction on the shards that take part in it.',
  async run(invocation) {
    const { transaction } = invocation.operation
    if (transaction === null)
      throw new CommandError('CommandFailed', 'commitTransaction must be run within a transaction')
    return commit(invocation, transaction)
  },
}
