import type { CommandRow } from '@shardlab/actor'
import { sessionsNamed } from '@shardlab/member'
import type { MongosInvocation } from '../command/invocation.js'
import { killSessionsEverywhere } from '../command/kill-sessions-everywhere.js'

export const killSessions: CommandRow<MongosInvocation> = {
  name: 'killSessions',
  routing: 'all-shards',
  access: 'admin',
  manual: 'reference/command/killSessions',
  status: 'full',
  summary: 'Ends the cursors and operations of the sessions named.',
  run: (invocation) => killSessionsEverywhere(invocation, sessionsNamed('killSessions', invocation.args.target)),
}
