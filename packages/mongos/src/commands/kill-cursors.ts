import type { CommandRow } from '@shardlab/actor'
import { closeCursors, killCursorsSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'

export const killCursors: CommandRow<MongosInvocation> = {
  ...killCursorsSpec,
  routing: 'cursor',
  status: 'full',
  summary: 'Closes cursors of this router and their cursors on the shards.',
  run: ({ args, db, host }) => closeCursors(args, db, (id) => host.cursors.kill(id)),
}
