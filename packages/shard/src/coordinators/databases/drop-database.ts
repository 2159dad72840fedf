/** Server: drop_database_coordinator.cpp. */
import { configAddress, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { dropLocalDatabase, raiseError, retryUntilDone } from '@shardlab/node'
import { logChange } from '../../common/changelog.js'
import { parseDatabase } from '../../metadata/placement-state.js'
import type { DdlRecovery } from '../ddl-coordinators.js'
import type { DdlHost } from '../ddl-host.js'
import type { DropDatabaseRecord } from '../ddl-records.js'
import { forEachShard, otherShards } from '../participants.js'

export function dropDatabase(
  host: DdlHost,
  request: RequestOf<'shard.drop-database'>,
): Promise<ReplyOf<'shard.drop-database'>> {
  const { db, databaseVersion } = request
  const coordination = { operation: 'dropDatabase', names: [db], databaseVersion, args: databaseVersion.join() }
  return host.ddl.coordinate(host, coordination, () => {
    const { node, critical, ddl } = host
    const { context } = node
    return critical.hold(db, async () => {
      await logChange(context, 'dropDatabase.start', db, new DocumentWriter().finish())
      const record: DropDatabaseRecord = { operation: 'dropDatabase', ns: db, uuid: databaseVersion[0] }
      await ddl.records.begin(record)
      await finishDropDatabase(host, record)
      return { error: null }
    })
  })
}

/** The database's entry is deleted last: while it exists, the drop is not complete. */
async function finishDropDatabase(host: DdlHost, record: DropDatabaseRecord): Promise<void> {
  const { node, placements, ddl, migrations } = host
  const { context } = node
  const { ns: db, uuid } = record
  await retryUntilDone(node, async () => {
    const { database } = await context.request(configAddress, 'config.get-database', { db })
    if (database === null || parseDatabase(database).version[0] !== uuid) return
    raiseError(
      (await context.request(configAddress, 'config.commit-drop-collections', { db, databaseUuid: uuid })).error,
    )
    await context.reach('shard.drop-database.collections-committed', { db })
    migrations.abortReceiving((ns) => ns.startsWith(`${db}.`))
    dropLocalDatabase(node, db)
    await node.flushToMajority()
    placements.forgetDatabase(db)
    await forEachShard(await otherShards(context), (shard) =>
      context.request(shard, 'shard.drop-local-database', { db }),
    )
    raiseError((await context.request(configAddress, 'config.commit-drop-database', { db, databaseUuid: uuid })).error)
    await context.reach('shard.drop-database.committed', { db })
  })
  placements.forgetDatabase(db)
  await retryUntilDone(node, () => logChange(context, 'dropDatabase', db, new DocumentWriter().finish()))
  await ddl.records.finish(record)
}

export const dropDatabaseRecovery: DdlRecovery<DropDatabaseRecord, DdlHost> = {
  hold: ({ critical }, { ns }, work) => critical.hold(ns, work),
  resume: finishDropDatabase,
}
