import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { killSessionsHere, sessionsNamed, killSessionsSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

export const killSessions: CommandRow<NodeInvocation> = {
  ...killSessionsSpec,
  routing: 'local',
  status: 'full',
  summary: 'Kills the cursors and operations of the given sessions.',
  run({ args, host, operation }) {
    killSessionsHere(host, sessionsNamed('killSessions', args.target, operation.users), operation)
    return new DocumentWriter(128)
  },
}
