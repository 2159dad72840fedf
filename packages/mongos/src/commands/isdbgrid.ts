import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'

export const isdbgrid: CommandRow<MongosInvocation> = {
  name: 'isdbgrid',
  aliases: ['isdbGrid'],
  routing: 'local',
  access: 'none',
  privileges: 'user',
  manual: 'reference/command/isdbgrid',
  status: 'full',
  summary: 'Identifies the member as a router.',
  run({ host }) {
    return new DocumentWriter(256).int32('isdbgrid', 1).string('hostname', host.context.endpoint)
  },
}
