import type { CommandRow } from '@shardlab/actor'
import { userDigest } from '@shardlab/auth'
import { DocumentWriter } from '@shardlab/bson'
import { sessionDocumentsArgument, sessionsNamed, killSessionsSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { killSessionsEverywhere } from '../admin/kill-sessions-everywhere.js'

export const killSessions: CommandRow<MongosInvocation> = {
  ...killSessionsSpec,
  routing: 'all-shards',
  status: 'full',
  summary: 'Ends the cursors and operations of the given sessions.',
  run(invocation) {
    const { args, operation } = invocation
    const fits = sessionsNamed('killSessions', args.target, operation.users)
    return killSessionsEverywhere(invocation, fits, patternOfUsers(invocation))
  },
}

/** Shards do not know the users of an empty list. Null: they get the command itself. */
function patternOfUsers({ args, operation: { users } }: MongosInvocation): Uint8Array | null {
  if (users === null || sessionDocumentsArgument('killSessions', args.target).length > 0) return null
  const writer = new DocumentWriter(128).startArray('killAllSessionsByPattern')
  users.forEach((user, i) => writer.startDocument(String(i)).binary('uid', 0, userDigest(user)).end())
  return writer.end().string('$db', 'admin').finish()
}
