import { balancerAddress, type CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { onConfigSettings } from '@shardlab/member'

export const balancerStatus: CommandRow<MongosInvocation> = {
  name: 'balancerStatus',
  routing: 'config-server',
  access: 'admin',
  privileges: onConfigSettings('find'),
  adminOnly: true,
  behaviour: 'balancerCommands',
  manual: 'reference/command/balancerStatus',
  status: 'full',
  summary: 'Shows whether the balancer is on and whether a round is running.',
  async run({ host, operation }) {
    const { mode, inBalancerRound, numBalancerRounds } = await host.remote.request(
      balancerAddress,
      'balancer.status',
      {},
      operation,
    )
    const writer = new DocumentWriter(256)
      .string('mode', mode)
      .bool('inBalancerRound', inBalancerRound)
      .int64('numBalancerRounds', numBalancerRounds)
    // The config server never elects another primary.
    return host.behaviours.balancerStatusHasTerm ? writer.int64('term', 1n) : writer
  },
}
