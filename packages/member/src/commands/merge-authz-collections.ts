import type { CommandRow } from '@shardlab/actor'
import { mergePrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const mergeAuthzCollections: CommandRow<MemberInvocation> = {
  name: '_mergeAuthzCollections',
  routing: 'config-server',
  access: 'write',
  adminOnly: true,
  privileges: mergePrivileges,
  manual: 'reference/built-in-roles',
  status: 'full',
  summary: 'Moves users and roles from other collections to those of the server, as mongorestore does.',
  fields: { tempUsersCollection: 'string', tempRolesCollection: 'string', db: 'string', drop: 'bool' },
  run: (invocation) => invocation.host.runUserCommand('_mergeAuthzCollections', invocation),
}
