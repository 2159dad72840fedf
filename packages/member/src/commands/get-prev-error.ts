import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, noCode } from '@shardlab/bson'
import { writePreviousError } from '../connections/last-error.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: get_last_error.cpp, commands_public.cpp. */
export const getPrevError: CommandRow<MemberInvocation> = {
  name: 'getPrevError',
  aliases: ['getpreverror'],
  routing: 'local',
  access: 'none',
  privileges: 'user',
  behaviour: 'getPrevErrorCommand',
  manual: 'reference/command/getPrevError',
  status: 'full',
  summary: 'Reports the last command of the connection that wrote or failed. Routers refuse it, as on the server.',
  run({ connectionId, host }) {
    if (host.process === 'mongos') throw new CommandError(noCode, 'getpreverror not supported for sharded environments')
    return writePreviousError(new DocumentWriter(256), host, connectionId)
  },
}
