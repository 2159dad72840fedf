import type { CommandRow } from '@shardlab/actor'
import type { MongosInvocation } from '../host/mongos-host.js'
import { setBalancerMode } from '../admin/balancer-mode.js'

export const balancerStart: CommandRow<MongosInvocation> = {
  name: 'balancerStart',
  routing: 'config-server',
  access: 'admin',
  adminOnly: true,
  behaviour: 'balancerCommands',
  manual: 'reference/command/balancerStart',
  status: 'full',
  summary: 'Turns the balancer on.',
  run: (invocation) => setBalancerMode(invocation, 'full'),
}
