import type { CommandRow } from '@shardlab/actor'
import { dropRolePrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const dropAllRolesFromDatabase: CommandRow<MemberInvocation> = {
  name: 'dropAllRolesFromDatabase',
  routing: 'config-server',
  access: 'write',
  privileges: dropRolePrivileges,
  manual: 'reference/command/dropAllRolesFromDatabase',
  status: 'full',
  summary: 'Deletes all roles of a database.',
  fields: {},
  run: (invocation) => invocation.host.runUserCommand('dropAllRolesFromDatabase', invocation),
}
