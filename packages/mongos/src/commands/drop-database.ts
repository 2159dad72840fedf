import type { CommandRow } from '@shardlab/actor'
import { dropDatabaseSpec } from '@shardlab/member'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { withDatabase } from '../routing/primary.js'
import { isConfigDatabase } from '../routing/route.js'

export const dropDatabase: CommandRow<MongosInvocation> = {
  ...dropDatabaseSpec,
  routing: 'primary-shard',
  status: 'full',
  summary: 'Drops a database with all its collections on all shards.',
  run(invocation) {
    const { args, db, host } = invocation
    if (isConfigDatabase(db)) throw new CommandError('IllegalOperation', `Cannot drop the ${db} database`)
    if (!args.target.isNumber() || args.target.asNumber() !== 1)
      throw new CommandError('BadValue', "Must pass 1 as the 'dropDatabase' parameter")
    return withDatabase(invocation, db, false, async (database) => {
      if (database === null) return new DocumentWriter(256).string('info', 'database does not exist')
      const { error } = await host.remote.request(
        database.primaryShard,
        'shard.drop-database',
        { db, databaseVersion: database.version },
        invocation.operation,
      )
      raise(error)
      host.catalog.forgetDatabase(db)
      host.cursors.collectionsDropped((ns) => ns.startsWith(`${db}.`))
      return new DocumentWriter(256).string('dropped', db)
    })
  },
}
