import type { CommandRow } from '@shardlab/actor'
import { createRolePrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const createRole: CommandRow<MemberInvocation> = {
  name: 'createRole',
  routing: 'config-server',
  access: 'write',
  privileges: createRolePrivileges,
  manual: 'reference/command/createRole',
  status: 'full',
  summary: 'Creates a role with privileges and inherited roles.',
  fields: { privileges: 'any', roles: 'any', authenticationRestrictions: 'any' },
  run: (invocation) => invocation.host.runUserCommand('createRole', invocation),
}
