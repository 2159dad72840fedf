import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

/** Server: generic_servers.cpp; without a script engine there is no `js`. */
export const features: CommandRow<MemberInvocation> = {
  name: 'features',
  routing: 'local',
  access: 'none',
  manual: 'reference/command/features',
  status: 'full',
  summary: 'Tells the machine part of the ObjectIds that the member makes.',
  run({ host: { processId } }) {
    return new DocumentWriter(128).int32('oidMachine', (processId[4]! << 16) | (processId[5]! << 8) | processId[6]!)
  },
}
