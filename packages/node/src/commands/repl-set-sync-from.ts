import type { CommandRow } from '@shardlab/actor'
import { BsonType } from '@shardlab/bson'
import type { NodeInvocation } from '../host/node-host.js'
import { answered } from '../replication/answered.js'
import { onCluster } from '@shardlab/member'

export const replSetSyncFrom: CommandRow<NodeInvocation> = {
  name: 'replSetSyncFrom',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('replSetStateChange'),
  adminOnly: true,
  manual: 'reference/command/replSetSyncFrom',
  status: 'full',
  summary: 'Selects the member from which a secondary copies the oplog.',
  run({ host, args }) {
    const target = args.target.type === BsonType.string ? args.target.asString() : ''
    const answer = host.set.coordinator.commands.syncFrom(host.context.steadyNow(), target)
    host.set.carryOut()
    return answered(answer)
  },
}
