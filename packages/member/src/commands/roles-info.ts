import type { CommandRow } from '@shardlab/actor'
import { rolesInfoPrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const rolesInfo: CommandRow<MemberInvocation> = {
  name: 'rolesInfo',
  routing: 'config-server',
  access: 'read',
  privileges: rolesInfoPrivileges,
  manual: 'reference/command/rolesInfo',
  status: 'full',
  summary: 'Describes roles.',
  fields: { showPrivileges: 'any', showBuiltinRoles: 'any', showAuthenticationRestrictions: 'any' },
  run: (invocation) => invocation.host.runUserCommand('rolesInfo', invocation),
}
