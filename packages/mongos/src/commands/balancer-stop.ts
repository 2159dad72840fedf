import { balancerAddress, type CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { setBalancerMode } from '../admin/balancer-mode.js'
import { onConfigSettings } from '@shardlab/member'

const pollMs = 100

/** Server: configsvr_control_balancer_command.cpp, Balancer::joinCurrentRound. */
export const balancerStop: CommandRow<MongosInvocation> = {
  name: 'balancerStop',
  routing: 'config-server',
  access: 'admin',
  privileges: onConfigSettings('update'),
  adminOnly: true,
  behaviour: 'balancerCommands',
  manual: 'reference/command/balancerStop',
  status: 'full',
  summary: 'Turns the balancer off and waits until the running round has ended.',
  async run(invocation) {
    const { host, operation } = invocation
    const writer = await setBalancerMode(invocation, 'off')
    let roundsBefore: number | null = null
    for (;;) {
      const { inBalancerRound, numBalancerRounds } = await host.remote.request(
        balancerAddress,
        'balancer.status',
        {},
        operation,
      )
      roundsBefore ??= numBalancerRounds
      // A round that began later has read the new mode.
      if (!inBalancerRound || numBalancerRounds !== roundsBefore) return writer
      const leftMs = operation.remainingMs(host.context.now())
      if (!(await operation.sleep(host.context, leftMs === undefined ? pollMs : Math.min(leftMs, pollMs))))
        throw new CommandError('InterruptedAtShutdown', 'interrupted at shutdown')
    }
  },
}
