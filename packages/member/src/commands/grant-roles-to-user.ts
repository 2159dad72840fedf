import type { CommandRow } from '@shardlab/actor'
import { grantRolesToUserPrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const grantRolesToUser: CommandRow<MemberInvocation> = {
  name: 'grantRolesToUser',
  routing: 'config-server',
  access: 'write',
  privileges: grantRolesToUserPrivileges,
  manual: 'reference/command/grantRolesToUser',
  status: 'full',
  summary: 'Adds roles to a user.',
  fields: { roles: 'any' },
  run: (invocation) => invocation.host.runUserCommand('grantRolesToUser', invocation),
}
