import type { CommandRow } from '@shardlab/actor'
import type { MongosInvocation } from '../command/invocation.js'
import { setBalancerMode } from '../command/balancer-mode.js'

export const balancerStop: CommandRow<MongosInvocation> = {
  name: 'balancerStop',
  routing: 'config-server',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/balancerStop',
  status: 'partial',
  missing: 'does not wait for the round that is running',
  summary: 'Turns the balancer off.',
  fields: {},
  run: (invocation) => setBalancerMode(invocation, 'off'),
}
