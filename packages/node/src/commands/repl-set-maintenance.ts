import type { CommandRow } from '@shardlab/actor'
import type { NodeInvocation } from '../host/node-host.js'
import { answered } from '../replication/answered.js'
import { onCluster } from '@shardlab/member'

export const replSetMaintenance: CommandRow<NodeInvocation> = {
  name: 'replSetMaintenance',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('replSetStateChange'),
  adminOnly: true,
  manual: 'reference/command/replSetMaintenance',
  status: 'full',
  summary: 'Puts a secondary into the state RECOVERING, in which it serves no reads, and back.',
  run({ host, args }) {
    const answer = host.set.coordinator.commands.setMaintenance(host.context.steadyNow(), args.target.isTruthy())
    host.set.carryOut()
    return answered(answer)
  },
}
