import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { invalidateUserCachePrivileges } from '../access/user-privileges.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: user_management_commands.cpp. */
export const invalidateUserCache: CommandRow<MemberInvocation> = {
  name: 'invalidateUserCache',
  routing: 'local',
  access: 'none',
  privileges: invalidateUserCachePrivileges,
  manual: 'reference/command/invalidateUserCache',
  status: 'full',
  summary: 'Reads users and roles again before the next command that needs them.',
  fields: {},
  run({ host }) {
    host.users.invalidate()
    return new DocumentWriter(128)
  },
}
