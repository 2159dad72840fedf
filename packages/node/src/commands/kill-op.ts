import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { mayKillOperation, operationIdOf, killOpSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

export const killOp: CommandRow<NodeInvocation> = {
  ...killOpSpec,
  routing: 'local',
  status: 'partial',
  deviations: ['D607'],
  summary: 'Kills a running operation at its next wait; the reply is the same if there is none.',
  run(invocation) {
    const { args, host } = invocation
    const id = operationIdOf(args.value('op'))
    if (mayKillOperation(invocation, id)) host.operations.kill(id)
    return new DocumentWriter(128).string('info', 'attempting to kill op')
  },
}
