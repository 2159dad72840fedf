import { configAddress, type CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { collectionUuidOf, databaseNameOf, renameCollectionSpec, renameRequest } from '@shardlab/member'
import type { DatabaseEntry } from '../catalog/database-entry.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { configCommand, passThrough, withDatabase } from '../routing/primary.js'
import { createImplicitly } from '../routing/implicit-database.js'
import { isConfigDatabase } from '../routing/route.js'

export const renameCollection: CommandRow<MongosInvocation> = {
  ...renameCollectionSpec,
  routing: 'primary-shard',
  status: 'partial',
  deviations: ['D851', 'D915'],
  summary: 'Renames a collection: to any database on the same primary shard, a sharded one within its database.',
  run(invocation) {
    const { args, host, operation } = invocation
    const { from, to, dropTarget } = renameRequest(args)
    const [fromDb, toDb] = [databaseNameOf(from), databaseNameOf(to)]
    if (isConfigDatabase(fromDb) && isConfigDatabase(toDb))
      return passThrough(invocation, configAddress, configCommand(invocation), false)
    const collectionUuid = collectionUuidOf(args)
    let attempts = 0
    return withDatabase(invocation, fromDb, false, async (database) => {
      if (database === null) throw new CommandError('NamespaceNotFound', `database ${fromDb} not found`)
      // A stale version may be that of the target's database.
      if (attempts++ > 0) host.catalog.forgetDatabase(toDb)
      if (toDb !== fromDb) await checkSamePrimary(invocation, database, toDb)
      const { error } = await host.remote.request(
        database.primaryShard,
        'shard.rename-collection',
        { ns: from, to, dropTarget, collectionUuid, databaseVersion: database.version },
        operation,
      )
      raise(error)
      host.catalog.forgetCollection(from)
      host.catalog.forgetCollection(to)
      if (dropTarget) host.cursors.collectionsDropped((ns) => ns === to)
      return new DocumentWriter(128)
    })
  },
}

/**
 * Creates the target database on the source's primary shard; an existing one must have the same.
 */
async function checkSamePrimary(
  { host, operation }: MongosInvocation,
  { primaryShard }: DatabaseEntry,
  db: string,
): Promise<void> {
  const existing = isConfigDatabase(db) ? null : await host.catalog.database(db, operation)
  if (existing === null && !isConfigDatabase(db)) {
    await createImplicitly(host, db, operation, primaryShard)
    return
  }
  if (existing?.primaryShard === primaryShard) return
  throw new CommandError(
    host.behaviours.shardedCollectionsCanBeRenamed ? 'CommandFailed' : 13137,
    'Source and destination collections must be on same shard',
  )
}
