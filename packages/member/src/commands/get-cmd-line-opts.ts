import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

export const getCmdLineOpts: CommandRow<MemberInvocation> = {
  name: 'getCmdLineOpts',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/getCmdLineOpts',
  status: 'full',
  summary: 'Returns the options with which the member was started.',
  run({ host }) {
    const port = Number(host.context.endpoint.split(':').at(-1))
    return new DocumentWriter(256)
      .startArray('argv')
      .string('0', host.process)
      .string('1', '--port')
      .string('2', String(port))
      .end()
      .startDocument('parsed')
      .startDocument('net')
      .int32('port', port)
      .end()
      .end()
  },
}
