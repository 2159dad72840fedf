import type { CommandRow } from '@shardlab/actor'
import { helloSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { writeHello } from '../admin/hello-reply.js'

export const hello: CommandRow<MongosInvocation> = {
  ...helloSpec,
  routing: 'local',
  status: 'full',
  summary: 'Introduces the router: limits, wire versions, and `msg: "isdbgrid"`, by which clients know one.',
  run: (invocation) => writeHello(invocation, 'isWritablePrimary'),
}
