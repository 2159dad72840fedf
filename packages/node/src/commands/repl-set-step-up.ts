import type { CommandRow } from '@shardlab/actor'
import type { NodeInvocation } from '../host/node-host.js'
import { answered } from '../replication/answered.js'
import { onCluster } from '@shardlab/member'

export const replSetStepUp: CommandRow<NodeInvocation> = {
  name: 'replSetStepUp',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('replSetStateChange'),
  adminOnly: true,
  manual: 'reference/command/replSetStepUp',
  status: 'full',
  summary: 'Runs for election at once.',
  async run({ host, args }) {
    return answered(await host.set.stepUp(args.bool('skipDryRun') === true))
  },
}
