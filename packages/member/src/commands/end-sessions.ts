import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { SessionCatalog } from '../sessions/session-catalog.js'
import { sessionDocumentsArgument } from '../sessions/session-patterns.js'
import type { MemberInvocation } from '../member-host.js'

export const endSessions: CommandRow<MemberInvocation> = {
  name: 'endSessions',
  routing: 'local',
  access: 'none',
  privileges: 'user',
  apiVersion1: true,
  manual: 'reference/command/endSessions',
  status: 'full',
  summary: 'Ends sessions and closes their cursors; unknown sessions are ignored.',
  fields: {},
  run({ host, args }) {
    for (const lsid of sessionDocumentsArgument('endSessions', args.target))
      host.sessions.end(SessionCatalog.parse(lsid).key)
    return new DocumentWriter(128)
  },
}
