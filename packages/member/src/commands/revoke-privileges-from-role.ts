import type { CommandRow } from '@shardlab/actor'
import { revokePrivilegesFromRolePrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const revokePrivilegesFromRole: CommandRow<MemberInvocation> = {
  name: 'revokePrivilegesFromRole',
  routing: 'config-server',
  access: 'write',
  privileges: revokePrivilegesFromRolePrivileges,
  manual: 'reference/command/revokePrivilegesFromRole',
  status: 'full',
  summary: 'Takes privileges from a role.',
  fields: { privileges: 'any' },
  run: (invocation) => invocation.host.runUserCommand('revokePrivilegesFromRole', invocation),
}
