import type { CommandRow } from '@shardlab/actor'
import { closeCursors, killCursorsSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'

export const killCursors: CommandRow<MongosInvocation> = {
  ...killCursorsSpec,
  routing: 'cursor',
  status: 'full',
  summary: 'Closes cursors of this router and their cursors on the shards.',
  run: (invocation) => {
    const { cursors } = invocation.host
    return closeCursors(
      invocation,
      (id) => cursors.find(id),
      (id) => cursors.kill(id),
    )
  },
}
