import type { CommandRow } from '@shardlab/actor'
import { grantRolesToRolePrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const grantRolesToRole: CommandRow<MemberInvocation> = {
  name: 'grantRolesToRole',
  routing: 'config-server',
  access: 'write',
  privileges: grantRolesToRolePrivileges,
  manual: 'reference/command/grantRolesToRole',
  status: 'full',
  summary: 'Lets a role inherit from other roles.',
  fields: { roles: 'any' },
  run: (invocation) => invocation.host.runUserCommand('grantRolesToRole', invocation),
}
