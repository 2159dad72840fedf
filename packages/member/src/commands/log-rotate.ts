import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'
import { onCluster } from '../access/needs.js'

/** Server: generic_servers.cpp, logv2/log_util.cpp (rotateLogs). */
export const logRotate: CommandRow<MemberInvocation> = {
  name: 'logRotate',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('logRotate'),
  adminOnly: true,
  manual: 'reference/command/logRotate',
  status: 'full',
  summary: 'Succeeds and does nothing, as on a server that logs to no file.',
  run({ args: { target }, host }) {
    // There is no audit log.
    if (host.behaviours.logCommandsAreTyped && target.type === BsonType.string && target.asString() !== 'server')
      throw new CommandError('NoSuchKey', 'Log rotation failed due to one or more errors')
    return new DocumentWriter(256)
  },
}
