import type { CommandRow } from '@shardlab/actor'
import { updateRolePrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const updateRole: CommandRow<MemberInvocation> = {
  name: 'updateRole',
  routing: 'config-server',
  access: 'write',
  privileges: updateRolePrivileges,
  manual: 'reference/command/updateRole',
  status: 'full',
  summary: 'Changes the privileges, roles or restrictions of a role.',
  fields: { privileges: 'any', roles: 'any', authenticationRestrictions: 'any' },
  run: (invocation) => invocation.host.runUserCommand('updateRole', invocation),
}
