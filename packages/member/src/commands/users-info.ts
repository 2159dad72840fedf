import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

export const usersInfo: CommandRow<MemberInvocation> = {
  name: 'usersInfo',
  routing: 'local',
  access: 'admin',
  manual: 'reference/command/usersInfo',
  status: 'partial',
  deviations: ['D911'],
  summary: 'Lists users: none, since there is no authentication.',
  fields: {
    showPrivileges: 'bool',
    showCredentials: 'bool',
    showCustomData: 'bool',
    showAuthenticationRestrictions: 'bool',
    filter: 'object',
  },
  run: () => new DocumentWriter(256).startArray('users').end(),
}
