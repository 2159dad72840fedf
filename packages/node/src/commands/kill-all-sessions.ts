import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { killSessionsHere, sessionsOfUsers, killAllSessionsSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

export const killAllSessions: CommandRow<NodeInvocation> = {
  ...killAllSessionsSpec,
  routing: 'local',
  status: 'full',
  summary:
    'Kills the cursors and operations of the sessions of the given users, or of all sessions if no user is given.',
  run({ args, host, operation }) {
    killSessionsHere(host, sessionsOfUsers('killAllSessions', args.target), operation)
    return new DocumentWriter(128)
  },
}
