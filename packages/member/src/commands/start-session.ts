import { uuidV4, type CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { SessionCatalog, sessionTimeoutMinutes } from '../sessions/session-catalog.js'
import type { MemberInvocation } from '../member-host.js'

export const startSession: CommandRow<MemberInvocation> = {
  name: 'startSession',
  routing: 'local',
  access: 'none',
  privileges: 'user',
  manual: 'reference/command/startSession',
  status: 'full',
  summary: 'Creates a session.',
  fields: {},
  run({ host }) {
    const lsid = new DocumentWriter(64).uuid('id', uuidV4(host.context.random)).finish()
    host.sessions.touch(SessionCatalog.parse(lsid), host.context.now())
    return new DocumentWriter(256).document('id', lsid).int32('timeoutMinutes', sessionTimeoutMinutes)
  },
}
