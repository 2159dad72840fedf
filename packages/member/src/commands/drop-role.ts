import type { CommandRow } from '@shardlab/actor'
import { dropRolePrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const dropRole: CommandRow<MemberInvocation> = {
  name: 'dropRole',
  routing: 'config-server',
  access: 'write',
  privileges: dropRolePrivileges,
  manual: 'reference/command/dropRole',
  status: 'full',
  summary: 'Deletes a role, and takes it from its users and roles.',
  fields: {},
  run: (invocation) => invocation.host.runUserCommand('dropRole', invocation),
}
