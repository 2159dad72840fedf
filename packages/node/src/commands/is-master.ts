import type { CommandRow } from '@shardlab/actor'
import type { NodeInvocation } from '../invocation.js'
import { introduceNode } from './hello.js'

export const isMaster: CommandRow<NodeInvocation> = {
  name: 'isMaster',
  aliases: ['ismaster'],
  routing: 'local',
  access: 'none',
  manual: 'reference/command/isMaster',
  status: 'full',
  summary: 'The older form of hello, with which drivers still begin a connection.',
  run: (invocation) => introduceNode(invocation, 'ismaster'),
}
