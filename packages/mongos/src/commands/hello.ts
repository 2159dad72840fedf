import type { CommandRow } from '@shardlab/actor'
import { helloSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { writeHello } from '../admin/hello-reply.js'

export const hello: CommandRow<MongosInvocation> = {
  ...helloSpec,
  routing: 'local',
  status: 'full',
  summary: 'Describes the router: limits, wire versions, and `msg: "isdbgrid"`, which identifies a router.',
  run: (invocation) => writeHello(invocation, 'isWritablePrimary'),
}
