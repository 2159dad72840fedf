import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { NodeInvocation } from '../invocation.js'
import { killSessionsHere } from '../sessions/kill-sessions.js'
import { sessionsNamed } from '../sessions/session-patterns.js'

export const killSessions: CommandRow<NodeInvocation> = {
  name: 'killSessions',
  routing: 'local',
  access: 'admin',
  manual: 'reference/command/killSessions',
  status: 'full',
  summary: 'Ends the cursors and operations of the sessions named.',
  run({ args, host, operation }) {
    killSessionsHere(host, sessionsNamed('killSessions', args.target), operation)
    return new DocumentWriter(128)
  },
}
