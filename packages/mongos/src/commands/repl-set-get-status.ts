import type { CommandRow } from '@shardlab/actor'
import { replSetGetStatusSpec } from '@shardlab/member'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'

export const replSetGetStatus: CommandRow<MongosInvocation> = {
  ...replSetGetStatusSpec,
  routing: 'local',
  status: 'full',
  summary: 'Fails, because a router is not a member of a replica set.',
  run: () => {
    throw new CommandError('OperationFailed', 'replSetGetStatus is not supported through mongos', {
      extra: new DocumentWriter(32).string('info', 'mongos').finish(),
    })
  },
}
