import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, documentsOf } from '@shardlab/bson'
import { SessionCatalog } from '../../sessions/session-catalog.js'
import type { CommonInvocation } from '../common-invocation.js'

export const refreshSessions: CommandRow<CommonInvocation> = {
  name: 'refreshSessions',
  routing: 'local',
  access: 'none',
  manual: 'reference/command/refreshSessions',
  status: 'full',
  summary: 'Keeps idle sessions alive.',
  fields: {},
  run({ host, args }) {
    if (args.target.type !== BsonType.array)
      throw new CommandError('TypeMismatch', `BSON field 'refreshSessions.refreshSessions' is the wrong type, expected type 'array'`)
    for (const lsid of documentsOf(args.target)) host.sessions.touch(SessionCatalog.parse(lsid), host.context.now())
    return new DocumentWriter(128)
  },
}
