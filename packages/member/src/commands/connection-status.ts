import type { CommandRow } from '@shardlab/actor'
import { writeAuthInfo } from '@shardlab/auth'
import { DocumentWriter } from '@shardlab/bson'
import { accessRulesOf } from '../access/access-rules.js'
import { refreshUsers } from '../access/authenticate.js'
import { ConnectionAccess } from '../access/connection-access.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: connection_status.cpp. */
export const connectionStatus: CommandRow<MemberInvocation> = {
  name: 'connectionStatus',
  routing: 'local',
  access: 'none',
  privileges: 'none',
  manual: 'reference/command/connectionStatus',
  status: 'full',
  summary: 'Returns the users of the connection, their roles and their privileges.',
  fields: { showPrivileges: 'bool' },
  async run({ args, host, connectionId }) {
    const rules = accessRulesOf(host.behaviours)
    const connection = host.connections.find(connectionId)
    if (connection !== undefined) await refreshUsers(host, connection)
    const access = connection?.access ?? new ConnectionAccess(rules)
    const names = access.users.map(({ name }) => name)
    const privileges = args.bool('showPrivileges') === true ? access.privileges : null
    return writeAuthInfo(new DocumentWriter(256), names, access.roles, privileges, rules)
  },
}
