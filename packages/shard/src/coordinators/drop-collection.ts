/**
 * Drops of collections and databases, run by the primary shard: the catalog first, so that no router can come back with a
 * version, then the data everywhere. Server: drop_collection_coordinator.cpp, drop_database_coordinator.cpp.
 */
import { configAddress, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { decode, DocumentWriter } from '@shardlab/bson'
import { dropLocalDatabase, dropLocalNamespace, expectUuid, raiseError } from '@shardlab/node'
import { logChange, raiseStaleDatabase } from './create-collection.js'
import { DdlRecords } from './ddl-records.js'
import { forEachShard } from './participants.js'
import type { ShardParts } from '../shard-parts.js'

export async function dropCollection(
  parts: ShardParts,
  { ns, collectionUuid, databaseVersion }: RequestOf<'shard.drop-collection'>,
): Promise<ReplyOf<'shard.drop-collection'>> {
  const { node, state, critical } = parts
  const { context } = node
  const records = new DdlRecords(node)
  await raiseStaleDatabase(state, context.address, ns, databaseVersion)
  return critical.hold(ns, async () => {
    const placement = await state.refreshCollection(ns)
    expectUuid(node, ns, collectionUuid)
    const wasPending = records.isPending('dropCollection', ns)
    if (placement === null && !wasPending) {
      const dropped = dropLocalNamespace(node, ns)
      await node.flush()
      state.forgetCollection(ns)
      return { existed: dropped !== null, indexCount: dropped?.indexCount ?? null, error: null }
    }
    const indexCount = node.collection(ns)?.indexes().length ?? 0
    await logChange(context, 'dropCollection.start', ns, new DocumentWriter().finish())
    await context.reach('shard.drop-collection.started', { ns })
    await records.begin('dropCollection', ns)
    raiseError((await context.request(configAddress, 'config.commit-drop-collection', { ns })).error)
    await context.reach('shard.drop-collection.committed', { ns })
    dropLocalNamespace(node, ns)
    await node.flush()
    state.forgetCollection(ns)
    // A shard without chunks may still hold a copy: all are asked.
    await forEachShard(await otherShards(parts), (shard) => context.request(shard, 'shard.drop-local-collection', { ns }))
    records.finish('dropCollection', ns)
    await node.flush()
    await logChange(context, 'dropCollection', ns, new DocumentWriter().finish())
    return { existed: true, indexCount, error: null }
  })
}

/** The database's own entry goes last: until then a repeated command finds its way here again. */
export async function dropDatabase(
  parts: ShardParts,
  { db, databaseVersion }: RequestOf<'shard.drop-database'>,
): Promise<ReplyOf<'shard.drop-database'>> {
  const { node, state, critical } = parts
  const { context } = node
  await raiseStaleDatabase(state, context.address, db, databaseVersion)
  return critical.hold(db, async () => {
    await logChange(context, 'dropDatabase.start', db, new DocumentWriter().finish())
    raiseError((await context.request(configAddress, 'config.commit-drop-collections', { db })).error)
    await context.reach('shard.drop-database.collections-committed', { db })
    dropLocalDatabase(node, db)
    await node.flush()
    state.forgetDatabase(db)
    await forEachShard(await otherShards(parts), (shard) => context.request(shard, 'shard.drop-local-database', { db }))
    raiseError((await context.request(configAddress, 'config.commit-drop-database', { db })).error)
    await context.reach('shard.drop-database.committed', { db })
    state.forgetDatabase(db)
    await logChange(context, 'dropDatabase', db, new DocumentWriter().finish())
    return { error: null }
  })
}

export async function otherShards({ node: { context } }: ShardParts): Promise<string[]> {
  const { shards } = await context.request(configAddress, 'config.get-shards', {})
  return shards.map((shard) => decode(shard)['_id'] as string).filter((id) => id !== context.address)
}
