import type { CommandRow } from '@shardlab/actor'
import { sessionsNamed, killSessionsSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { killSessionsEverywhere } from '../admin/kill-sessions-everywhere.js'

export const killSessions: CommandRow<MongosInvocation> = {
  ...killSessionsSpec,
  routing: 'all-shards',
  status: 'full',
  summary: 'Ends the cursors and operations of the given sessions.',
  run: (invocation) => killSessionsEverywhere(invocation, sessionsNamed('killSessions', invocation.args.target)),
}
