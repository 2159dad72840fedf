import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { operationIdOf } from '@shardlab/member'
import type { NodeInvocation } from '../invocation.js'

export const killOp: CommandRow<NodeInvocation> = {
  name: 'killOp',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/killOp',
  status: 'full',
  summary: 'Ends a running operation where it next waits; says so whether there is one or not.',
  fields: { op: 'any' },
  run({ args, host }) {
    host.operations.kill(operationIdOf(args.value('op')))
    return new DocumentWriter(128).string('info', 'attempting to kill op')
  },
}
