import type { CommandRow } from '@shardlab/actor'
import { isMasterSpec } from '@shardlab/member'
import { writeHello } from './hello.js'
import type { NodeInvocation } from '../host/node-host.js'

export const isMaster: CommandRow<NodeInvocation> = {
  ...isMasterSpec,
  routing: 'local',
  status: 'full',
  summary: 'The older form of hello; drivers still start connections with it.',
  run: (invocation) => writeHello(invocation, 'ismaster'),
}
