import type { CommandRow } from '@shardlab/actor'
import type { MongosInvocation } from '../command/invocation.js'
import { writeHello } from '../command/hello-reply.js'

export const isMaster: CommandRow<MongosInvocation> = {
  name: 'isMaster',
  aliases: ['ismaster'],
  routing: 'local',
  access: 'none',
  manual: 'reference/command/isMaster',
  status: 'full',
  summary: 'The older form of hello, with which drivers still begin a connection.',
  run: (invocation) => writeHello(invocation, 'ismaster'),
}
