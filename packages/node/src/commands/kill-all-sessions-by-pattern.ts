import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { killSessionsHere, sessionsByPattern, killAllSessionsByPatternSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

export const killAllSessionsByPattern: CommandRow<NodeInvocation> = {
  ...killAllSessionsByPatternSpec,
  routing: 'local',
  status: 'full',
  summary: 'Kills the cursors and operations of the sessions that match a pattern.',
  run({ args, host, operation }) {
    killSessionsHere(host, sessionsByPattern('killAllSessionsByPattern', args.target), operation)
    return new DocumentWriter(128)
  },
}
