import type { CommandRow } from '@shardlab/actor'
import { updateUserPrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const updateUser: CommandRow<MemberInvocation> = {
  name: 'updateUser',
  routing: 'config-server',
  access: 'write',
  privileges: updateUserPrivileges,
  sensitive: ['pwd'],
  manual: 'reference/command/updateUser',
  status: 'full',
  summary: 'Changes the password, roles, data or restrictions of a user.',
  fields: {
    pwd: 'any',
    customData: 'any',
    roles: 'any',
    digestPassword: 'any',
    mechanisms: 'any',
    authenticationRestrictions: 'any',
  },
  run: (invocation) => invocation.host.runUserCommand('updateUser', invocation),
}
