import type { CommandRow } from '@shardlab/actor'
import { closeCursors } from '@shardlab/member'
import type { MongosInvocation } from '../command/invocation.js'

export const killCursors: CommandRow<MongosInvocation> = {
  name: 'killCursors',
  routing: 'cursor',
  access: 'read',
  apiVersion1: true,
  manual: 'reference/command/killCursors',
  status: 'full',
  summary: 'Closes cursors of this router and what they hold on the shards.',
  fields: { cursors: 'array!' },
  run: ({ args, db, host }) => closeCursors(args, db, (id) => host.cursors.kill(id)),
}
