import type { CommandRow } from '@shardlab/actor'
import { grantPrivilegesToRolePrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const grantPrivilegesToRole: CommandRow<MemberInvocation> = {
  name: 'grantPrivilegesToRole',
  routing: 'config-server',
  access: 'write',
  privileges: grantPrivilegesToRolePrivileges,
  manual: 'reference/command/grantPrivilegesToRole',
  status: 'full',
  summary: 'Adds privileges to a role.',
  fields: { privileges: 'any' },
  run: (invocation) => invocation.host.runUserCommand('grantPrivilegesToRole', invocation),
}
