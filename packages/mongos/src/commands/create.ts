import type { CommandRow } from '@shardlab/actor'
import type { MongosInvocation } from '../command/invocation.js'
import { configCommand, configMemberOf, passThrough, primaryCommand, withDatabase } from '../routing/primary.js'

export const create: CommandRow<MongosInvocation> = {
  name: 'create',
  routing: 'primary-shard',
  access: 'write',
  apiVersion1: true,
  manual: 'reference/command/create',
  status: 'full',
  summary: 'Creates an unsharded collection or a view, and its database when there is none.',
  run(invocation) {
    const { args, db } = invocation
    args.collectionName(db)
    const member = configMemberOf(db)
    if (member !== null) return passThrough(invocation, member, configCommand(invocation), false)
    return withDatabase(invocation, db, true, (database) =>
      passThrough(invocation, database!.primaryShard, primaryCommand(invocation, database!), false),
    )
  },
}
