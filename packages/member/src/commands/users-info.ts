import type { CommandRow } from '@shardlab/actor'
import { usersInfoPrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const usersInfo: CommandRow<MemberInvocation> = {
  name: 'usersInfo',
  routing: 'config-server',
  access: 'read',
  privileges: usersInfoPrivileges,
  manual: 'reference/command/usersInfo',
  status: 'full',
  summary: 'Describes users.',
  fields: {
    showPrivileges: 'any',
    showCredentials: 'any',
    showCustomData: 'any',
    showAuthenticationRestrictions: 'any',
    filter: 'any',
  },
  run: (invocation) => invocation.host.runUserCommand('usersInfo', invocation),
}
