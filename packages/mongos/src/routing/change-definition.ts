/** Server: executeCommandAgainstDatabasePrimary of _shardsvrCollMod and _shardsvrDropIndexes. */
import { CommandError } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { isStaleCode, raise } from '../remote/command-reply.js'
import { withDatabase } from './primary.js'
import { answered, type MemberAnswer } from './scatter.js'
import { refuseUuid } from './stale-loop.js'

export interface DefinitionChange {
  readonly command: 'collMod' | 'dropIndexes'
  /** Text of the error for a database that does not exist. */
  readonly notFound: string
  readonly idempotent: boolean
}

/**
 * Has the primary shard run the command on the collection's owners.
 * @throws CommandError 26 NamespaceNotFound, 46 LockBusy, 117 ConflictingOperationInProgress; a
 *   member's stale error
 */
export function changeDefinition(
  invocation: MongosInvocation,
  { command, notFound, idempotent }: DefinitionChange,
): Promise<{ readonly sharded: boolean; readonly answers: readonly MemberAnswer[] }> {
  const { args, body, db, host, operation, sequences } = invocation
  const ns = `${db}.${args.collectionName(db)}`
  return withDatabase(invocation, db, false, async (database) => {
    if (database === null) {
      refuseUuid(invocation, ns)
      throw new CommandError('NamespaceNotFound', notFound)
    }
    const { primaryShard, version: databaseVersion } = database
    const request = { ns, command, body, sequences, databaseVersion }
    const reply = await host.remote.request(primaryShard, 'shard.change-definition', request, operation, idempotent)
    raise(reply.error)
    const answers = reply.answers.map(([member, answer]) => answered(member, { body: answer }))
    const stale = answers.find(({ error }) => error !== null && isStaleCode(error.code))
    if (stale?.error != null) throw stale.error
    // A new router does not have the hosts of shards yet.
    await host.shards.ids(operation)
    return { sharded: reply.sharded, answers }
  })
}
