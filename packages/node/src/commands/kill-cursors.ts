import type { CommandRow } from '@shardlab/actor'
import { closeCursors } from '@shardlab/member'
import type { NodeInvocation } from '../invocation.js'

export const killCursors: CommandRow<NodeInvocation> = {
  name: 'killCursors',
  routing: 'cursor',
  access: 'read',
  apiVersion1: true,
  manual: 'reference/command/killCursors',
  status: 'full',
  summary: 'Closes cursors.',
  fields: { cursors: 'array!' },
  run: ({ host, args, db }) => closeCursors(args, db, (id) => host.cursors.close(id)),
}
