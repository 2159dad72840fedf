import type { CommandRow } from '@shardlab/actor'
import { revokeRolesFromUserPrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const revokeRolesFromUser: CommandRow<MemberInvocation> = {
  name: 'revokeRolesFromUser',
  routing: 'config-server',
  access: 'write',
  privileges: revokeRolesFromUserPrivileges,
  manual: 'reference/command/revokeRolesFromUser',
  status: 'full',
  summary: 'Takes roles from a user.',
  fields: { roles: 'any' },
  run: (invocation) => invocation.host.runUserCommand('revokeRolesFromUser', invocation),
}
