import type { CommandRow } from '@shardlab/actor'
import { dropUserPrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const dropAllUsersFromDatabase: CommandRow<MemberInvocation> = {
  name: 'dropAllUsersFromDatabase',
  routing: 'config-server',
  access: 'write',
  privileges: dropUserPrivileges,
  manual: 'reference/command/dropAllUsersFromDatabase',
  status: 'full',
  summary: 'Deletes all users of a database.',
  fields: {},
  run: (invocation) => invocation.host.runUserCommand('dropAllUsersFromDatabase', invocation),
}
