import type { CommandRow } from '@shardlab/actor'
import { createUserPrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const createUser: CommandRow<MemberInvocation> = {
  name: 'createUser',
  routing: 'config-server',
  access: 'write',
  privileges: createUserPrivileges,
  sensitive: ['pwd'],
  manual: 'reference/command/createUser',
  status: 'full',
  summary: 'Creates a user with a password and roles.',
  fields: {
    pwd: 'any',
    customData: 'any',
    roles: 'any',
    digestPassword: 'any',
    mechanisms: 'any',
    authenticationRestrictions: 'any',
  },
  run: (invocation) => invocation.host.runUserCommand('createUser', invocation),
}
