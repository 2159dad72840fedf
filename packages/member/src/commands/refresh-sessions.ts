import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { SessionCatalog } from '../sessions/session-catalog.js'
import { sessionDocumentsArgument } from '../sessions/session-patterns.js'
import type { MemberInvocation } from '../member-host.js'

export const refreshSessions: CommandRow<MemberInvocation> = {
  name: 'refreshSessions',
  routing: 'local',
  access: 'none',
  privileges: 'user',
  apiVersion1: true,
  manual: 'reference/command/refreshSessions',
  status: 'partial',
  deviations: ['D703'],
  summary: 'Keeps idle sessions alive.',
  fields: {},
  run({ host, args }) {
    for (const lsid of sessionDocumentsArgument('refreshSessions', args.target))
      host.sessions.touch(SessionCatalog.parse(lsid), host.context.now())
    return new DocumentWriter(128)
  },
}
