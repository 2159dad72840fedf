import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, documentsOf } from '@shardlab/bson'
import { SessionCatalog } from '../../sessions/session-catalog.js'
import type { CommonInvocation } from '../common-invocation.js'

export const endSessions: CommandRow<CommonInvocation> = {
  name: 'endSessions',
  routing: 'local',
  access: 'none',
  manual: 'reference/command/endSessions',
  status: 'full',
  summary: 'Ends sessions and closes their cursors; unknown ones are passed over.',
  fields: {},
  run({ host, args }) {
    if (args.target.type !== BsonType.array)
      throw new CommandError('TypeMismatch', `BSON field 'endSessions.endSessions' is the wrong type, expected type 'array'`)
    for (const lsid of documentsOf(args.target)) host.sessions.end(SessionCatalog.parse(lsid).key)
    return new DocumentWriter(128)
  },
}
