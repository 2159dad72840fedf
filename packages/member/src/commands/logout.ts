import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

/** Server: authentication_commands.cpp. */
export const logout: CommandRow<MemberInvocation> = {
  name: 'logout',
  routing: 'local',
  access: 'none',
  privileges: 'user',
  manual: 'reference/command/logout',
  status: 'full',
  summary: 'Ends the login of the user of this database.',
  run({ db, host, connectionId }) {
    host.connections.find(connectionId)?.access?.logOut(db)
    return new DocumentWriter(128)
  },
}
