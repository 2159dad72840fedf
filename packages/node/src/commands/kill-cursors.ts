import type { CommandRow } from '@shardlab/actor'
import { closeCursors, killCursorsSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

export const killCursors: CommandRow<NodeInvocation> = {
  ...killCursorsSpec,
  routing: 'cursor',
  status: 'full',
  summary: 'Closes cursors.',
  run: ({ host, args, db }) => closeCursors(args, db, (id) => host.cursors.close(id)),
}
