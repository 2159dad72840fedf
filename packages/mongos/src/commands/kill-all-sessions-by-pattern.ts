import type { CommandRow } from '@shardlab/actor'
import { sessionsByPattern, killAllSessionsByPatternSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { killSessionsEverywhere } from '../admin/kill-sessions-everywhere.js'

export const killAllSessionsByPattern: CommandRow<MongosInvocation> = {
  ...killAllSessionsByPatternSpec,
  routing: 'all-shards',
  status: 'full',
  summary: 'Ends the cursors and operations of the sessions that match a pattern.',
  run: (invocation) =>
    killSessionsEverywhere(invocation, sessionsByPattern('killAllSessionsByPattern', invocation.args.target)),
}
