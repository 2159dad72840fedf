import type { CommandRow } from '@shardlab/actor'
import type { NodeInvocation } from '../host/node-host.js'
import { answered } from '../replication/answered.js'
import { onCluster } from '@shardlab/member'

/** Server: repl_set_commands.cpp, replication_coordinator_impl.cpp (stepDown). */
export const replSetStepDown: CommandRow<NodeInvocation> = {
  name: 'replSetStepDown',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('replSetStateChange'),
  adminOnly: true,
  manual: 'reference/command/replSetStepDown',
  status: 'full',
  summary:
    'Makes the primary a secondary, which is not elected again before the time is over. Without force another member must be able to take over. Not on routers.',
  async run({ host, args }) {
    const error = await host.set.stepDown({
      seconds: Math.trunc(args.target.isNumber() ? args.target.asNumber() : 0),
      catchUpSeconds: args.number('secondaryCatchUpPeriodSecs') ?? null,
      force: args.bool('force') === true,
    })
    return answered(error)
  },
}
