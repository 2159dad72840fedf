import type { CommandRow } from '@shardlab/actor'
import type { MongosInvocation } from '../host/mongos-host.js'
import { setBalancerMode } from '../admin/balancer-mode.js'
import { onConfigSettings } from '@shardlab/member'

export const balancerStart: CommandRow<MongosInvocation> = {
  name: 'balancerStart',
  routing: 'config-server',
  access: 'admin',
  privileges: onConfigSettings('update'),
  adminOnly: true,
  behaviour: 'balancerCommands',
  manual: 'reference/command/balancerStart',
  status: 'full',
  summary: 'Turns the balancer on.',
  run: (invocation) => setBalancerMode(invocation, 'full'),
}
