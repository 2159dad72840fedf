import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { fsyncSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

export const fsync: CommandRow<NodeInvocation> = {
  ...fsyncSpec,
  routing: 'all-shards',
  status: 'partial',
  missing: 'the argument lock, and fsyncUnlock',
  summary: 'Waits until all earlier writes are on the disk.',
  async run({ args, host }) {
    if (args.bool('lock') === true) throw new CommandError('InvalidOptions', 'lock is not supported in fsync')
    await host.flush()
    return new DocumentWriter(128).int32('numFiles', 1)
  },
}
