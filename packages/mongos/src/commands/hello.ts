import type { CommandRow } from '@shardlab/actor'
import type { MongosInvocation } from '../command/invocation.js'
import { writeHello } from '../command/hello-reply.js'

export const hello: CommandRow<MongosInvocation> = {
  name: 'hello',
  routing: 'local',
  access: 'none',
  apiVersion1: true,
  manual: 'reference/command/hello',
  status: 'full',
  summary: 'Introduces the router: limits, wire versions, and `msg: "isdbgrid"`, by which clients know one.',
  run: (invocation) => writeHello(invocation, 'isWritablePrimary'),
}
