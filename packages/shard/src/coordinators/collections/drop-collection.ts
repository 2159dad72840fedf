/**
 * Drops of collections and databases, run by the primary shard: the catalog first, so that no router can come back with a
 * version, then the data everywhere. Server: drop_collection_coordinator.cpp, drop_database_coordinator.cpp.
 */
import { configAddress, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { decode, DocumentWriter } from '@shardlab/bson'
import { dropLocalDatabase, dropLocalNamespace, expectUuid, isTemporary, raiseError, untilDone } from '@shardlab/node'
import { parseDatabase } from '../../metadata/placement-state.js'
import { forgetSampling } from '../../query-analysis/stop-sampling.js'
import { logChange } from '../log-change.js'
import { raiseStaleDatabase } from '../primary-shard-check.js'
import type { DdlRecovery } from '../ddl-coordinators.js'
import type { DropCollectionRecord, DropDatabaseRecord } from '../ddl-records.js'
import { forEachShard } from '../participants.js'
import type { ShardParts } from '../../shard-parts.js'

export function dropCollection(
  parts: ShardParts,
  request: RequestOf<'shard.drop-collection'>,
): Promise<ReplyOf<'shard.drop-collection'>> {
  const { ns, collectionUuid } = request
  return parts.ddl.once(`dropCollection ${ns} ${String(collectionUuid)}`, () => drop(parts, request))
}

async function drop(
  parts: ShardParts,
  { ns, collectionUuid, databaseVersion }: RequestOf<'shard.drop-collection'>,
): Promise<ReplyOf<'shard.drop-collection'>> {
  const { node, state, critical, ddl } = parts
  const { context } = node
  await raiseStaleDatabase(state, context.address, ns, databaseVersion)
  return critical.hold(ns, async () => {
    const sharded = (await state.refreshCollection(ns)) !== null
    expectUuid(node, ns, collectionUuid)
    const collection = node.collection(ns)
    // Nobody else knows of a temporary collection, and it goes also when the disk is full.
    if (!sharded && (collection === undefined || isTemporary(collection))) {
      const dropped = dropLocalNamespace(node, ns)
      await node.flush()
      return { existed: dropped !== null, indexCount: dropped?.indexCount ?? null, error: null }
    }
    const indexCount = collection?.indexes().length ?? 0
    await forgetSampling(node, [ns])
    if (sharded) await logChange(context, 'dropCollection.start', ns, new DocumentWriter().finish())
    await context.reach('shard.drop-collection.started', { ns })
    const record: DropCollectionRecord = { operation: 'dropCollection', ns, sharded }
    await ddl.records.begin(record)
    await carryOnDrop(parts, record)
    return { existed: true, indexCount, error: null }
  })
}

async function carryOnDrop(parts: ShardParts, record: DropCollectionRecord): Promise<void> {
  const { node, state, ddl, migrations } = parts
  const { context } = node
  const { ns, sharded } = record
  if (sharded) {
    await untilDone(node, async () => {
      raiseError((await context.request(configAddress, 'config.commit-drop-collection', { ns })).error)
      await context.reach('shard.drop-collection.committed', { ns })
    })
  }
  migrations.forsake((each) => each === ns)
  dropLocalNamespace(node, ns)
  await node.flush()
  state.forgetCollection(ns)
  // Copies are also on shards without chunks, and where a database has had its primary shard before.
  await untilDone(node, async () => {
    await forEachShard(await otherShards(parts), (shard) =>
      context.request(shard, 'shard.drop-local-collection', { ns }),
    )
    if (sharded) await logChange(context, 'dropCollection', ns, new DocumentWriter().finish())
  })
  await ddl.records.finish(record)
}

export const dropCollectionRecovery: DdlRecovery<DropCollectionRecord> = {
  hold: ({ critical }, { ns }, work) => critical.hold(ns, work),
  carryOn: carryOnDrop,
}

export function dropDatabase(
  parts: ShardParts,
  request: RequestOf<'shard.drop-database'>,
): Promise<ReplyOf<'shard.drop-database'>> {
  const { db, databaseVersion } = request
  return parts.ddl.once(`dropDatabase ${db} ${databaseVersion.join()}`, async () => {
    const { node, state, critical, ddl } = parts
    const { context } = node
    await raiseStaleDatabase(state, context.address, db, databaseVersion)
    return critical.hold(db, async () => {
      await logChange(context, 'dropDatabase.start', db, new DocumentWriter().finish())
      const record: DropDatabaseRecord = { operation: 'dropDatabase', ns: db, uuid: databaseVersion[0] }
      await ddl.records.begin(record)
      await carryOnDropDatabase(parts, record)
      return { error: null }
    })
  })
}

/** The database's own entry goes last: as long as it is there, there is work to do. */
async function carryOnDropDatabase(parts: ShardParts, record: DropDatabaseRecord): Promise<void> {
  const { node, state, ddl, migrations } = parts
  const { context } = node
  const { ns: db, uuid } = record
  await untilDone(node, async () => {
    const { database } = await context.request(configAddress, 'config.get-database', { db })
    if (database === null || parseDatabase(database).version[0] !== uuid) return
    raiseError((await context.request(configAddress, 'config.commit-drop-collections', { db })).error)
    await context.reach('shard.drop-database.collections-committed', { db })
    migrations.forsake((ns) => ns.startsWith(`${db}.`))
    dropLocalDatabase(node, db)
    await node.flush()
    state.forgetDatabase(db)
    await forEachShard(await otherShards(parts), (shard) => context.request(shard, 'shard.drop-local-database', { db }))
    raiseError((await context.request(configAddress, 'config.commit-drop-database', { db })).error)
    await context.reach('shard.drop-database.committed', { db })
  })
  state.forgetDatabase(db)
  await untilDone(node, () => logChange(context, 'dropDatabase', db, new DocumentWriter().finish()))
  await ddl.records.finish(record)
}

export const dropDatabaseRecovery: DdlRecovery<DropDatabaseRecord> = {
  hold: ({ critical }, { ns }, work) => critical.hold(ns, work),
  carryOn: carryOnDropDatabase,
}

export async function otherShards({ node: { context } }: ShardParts): Promise<string[]> {
  const { shards } = await context.request(configAddress, 'config.get-shards', {})
  return shards.map((shard) => decode(shard)['_id'] as string).filter((id) => id !== context.address)
}
