import type { CommandRow } from '@shardlab/actor'
import { isMasterSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { writeHello } from '../admin/hello-reply.js'

export const isMaster: CommandRow<MongosInvocation> = {
  ...isMasterSpec,
  routing: 'local',
  status: 'full',
  summary: 'The older form of hello, which drivers still send first on a connection.',
  run: (invocation) => writeHello(invocation, 'ismaster'),
}
