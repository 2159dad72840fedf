import type { CommandRow } from '@shardlab/actor'
import { dropUserPrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const dropUser: CommandRow<MemberInvocation> = {
  name: 'dropUser',
  routing: 'config-server',
  access: 'write',
  privileges: dropUserPrivileges,
  manual: 'reference/command/dropUser',
  status: 'full',
  summary: 'Deletes a user.',
  fields: {},
  run: (invocation) => invocation.host.runUserCommand('dropUser', invocation),
}
