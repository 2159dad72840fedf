import type { CommandRow } from '@shardlab/actor'
import type { NodeInvocation } from '../host/node-host.js'
import { answered } from '../replication/answered.js'
import { onCluster } from '@shardlab/member'

export const replSetAbortPrimaryCatchUp: CommandRow<NodeInvocation> = {
  name: 'replSetAbortPrimaryCatchUp',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('replSetStateChange'),
  adminOnly: true,
  manual: 'reference/command/replSetAbortPrimaryCatchUp',
  status: 'full',
  summary: 'Ends the catch-up of a new primary, which loses what it has not fetched.',
  run({ host }) {
    const answer = host.set.coordinator.commands.abortCatchUp(host.context.steadyNow())
    host.set.carryOut()
    return answered(answer)
  },
}
