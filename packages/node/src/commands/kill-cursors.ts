import type { CommandRow } from '@shardlab/actor'
import { closeCursors, killCursorsSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

export const killCursors: CommandRow<NodeInvocation> = {
  ...killCursorsSpec,
  routing: 'cursor',
  status: 'full',
  summary: 'Closes cursors.',
  run: (invocation) => {
    const { cursors } = invocation.host
    return closeCursors(
      invocation,
      (id) => cursors.find(id),
      (id) => cursors.close(id),
    )
  },
}
