import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

/** Server: generic_servers.cpp. `js` is absent, as in a server without a script engine. */
export const features: CommandRow<MemberInvocation> = {
  name: 'features',
  routing: 'local',
  access: 'none',
  privileges: 'none',
  manual: 'reference/command/features',
  status: 'partial',
  missing: 'oidReset, which makes another machine part',
  summary: 'Returns the machine part of the ObjectIds that the member creates.',
  run({ host: { processId }, args }) {
    if (args.value('oidReset')?.isTruthy() === true)
      throw new CommandError('CommandNotSupported', 'features: oidReset is not supported')
    return new DocumentWriter(128).int32('oidMachine', (processId[4]! << 16) | (processId[5]! << 8) | processId[6]!)
  },
}
