import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { fsyncUnlockSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

export const fsyncUnlock: CommandRow<NodeInvocation> = {
  ...fsyncUnlockSpec,
  routing: 'all-shards',
  status: 'full',
  behaviour: 'fsyncUnlockCommand',
  summary: 'Ends the lock of fsync: waiting writes run.',
  run: ({ host }) =>
    new DocumentWriter(128).string('info', 'fsyncUnlock completed').int64('lockCount', host.writeLock.unlock()),
}
