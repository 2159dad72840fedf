import type { CommandRow } from '@shardlab/actor'
import { revokeRolesFromRolePrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const revokeRolesFromRole: CommandRow<MemberInvocation> = {
  name: 'revokeRolesFromRole',
  routing: 'config-server',
  access: 'write',
  privileges: revokeRolesFromRolePrivileges,
  manual: 'reference/command/revokeRolesFromRole',
  status: 'full',
  summary: 'Ends the inheritance of a role from other roles.',
  fields: { roles: 'any' },
  run: (invocation) => invocation.host.runUserCommand('revokeRolesFromRole', invocation),
}
