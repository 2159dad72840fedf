import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

export const connectionStatus: CommandRow<MemberInvocation> = {
  name: 'connectionStatus',
  routing: 'local',
  access: 'none',
  manual: 'reference/command/connectionStatus',
  status: 'partial',
  deviations: ['D911'],
  summary: 'Returns the authenticated users: none, since there is no authentication.',
  fields: { showPrivileges: 'bool' },
  run({ args }) {
    const writer = new DocumentWriter(256)
      .startDocument('authInfo')
      .startArray('authenticatedUsers')
      .end()
      .startArray('authenticatedUserRoles')
      .end()
    if (args.bool('showPrivileges') === true) writer.startArray('authenticatedUserPrivileges').end()
    return writer.end()
  },
}
