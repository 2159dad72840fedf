import type { CommandRow } from '@shardlab/actor'
import type { NodeInvocation } from '../host/node-host.js'
import { answered } from '../replication/answered.js'
import { onCluster } from '@shardlab/member'

export const replSetFreeze: CommandRow<NodeInvocation> = {
  name: 'replSetFreeze',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('replSetStateChange'),
  adminOnly: true,
  manual: 'reference/command/replSetFreeze',
  status: 'full',
  summary: 'Keeps a secondary from running for election for some seconds.',
  run({ host, args }) {
    const seconds = args.target.isNumber() ? Math.trunc(args.target.asNumber()) : 0
    const answer = host.set.coordinator.commands.freeze(host.context.steadyNow(), seconds)
    host.set.carryOut()
    return answered(answer)
  },
}
