import type { CommandRow } from '@shardlab/actor'
import { sessionsOfUsers, killAllSessionsSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { killSessionsEverywhere } from '../admin/kill-sessions-everywhere.js'

export const killAllSessions: CommandRow<MongosInvocation> = {
  ...killAllSessionsSpec,
  routing: 'all-shards',
  status: 'full',
  summary: 'Ends the cursors and operations of the sessions of the given users, by default of all sessions.',
  run: (invocation) => killSessionsEverywhere(invocation, sessionsOfUsers('killAllSessions', invocation.args.target)),
}
