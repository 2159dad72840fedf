import type { CommandRow } from '@shardlab/actor'
import { findField, type DocumentWriter } from '@shardlab/bson'
import { refuseTemporary, createSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { configCommand, configMemberOf, passThrough, primaryCommand, withDatabase } from '../routing/primary.js'

export const create: CommandRow<MongosInvocation> = {
  ...createSpec,
  routing: 'primary-shard',
  status: 'partial',
  deviations: ['D305', 'D400'],
  summary: 'Creates an unsharded collection or a view, and its database if that does not exist.',
  run(invocation) {
    const { args, db, body } = invocation
    args.collectionName(db)
    refuseTemporary(findField(body, 'temp')?.isTruthy())
    return createWhereDatabaseIs(invocation)
  },
}

/** Runs the client's command unchanged on the member that holds the untracked collections. */
export function createWhereDatabaseIs(invocation: MongosInvocation): Promise<DocumentWriter> {
  const { db } = invocation
  const member = configMemberOf(db)
  if (member !== null) return passThrough(invocation, member, configCommand(invocation), false)
  return withDatabase(invocation, db, true, (database) =>
    passThrough(invocation, database!.primaryShard, primaryCommand(invocation, database!), false),
  )
}
