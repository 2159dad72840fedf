/**
 * Run by the primary shard. The collection leaves the catalog first, so that no router gets a valid
 * version of it again; then all shards drop its data.
 * Server: drop_collection_coordinator.cpp.
 */
import { configAddress, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { dropLocalNamespace, expectUuid, isTemporary, raiseError, retryUntilDone } from '@shardlab/node'
import { logChange } from '../../common/changelog.js'
import { stopSampling } from '../../query-analysis/stop-sampling.js'
import type { DdlRecovery } from '../ddl-coordinators.js'
import type { DdlHost } from '../ddl-host.js'
import type { DropCollectionRecord } from '../ddl-records.js'
import { forEachShard, otherShards } from '../participants.js'

export function dropCollection(
  host: DdlHost,
  request: RequestOf<'shard.drop-collection'>,
): Promise<ReplyOf<'shard.drop-collection'>> {
  const { ns, collectionUuid, databaseVersion } = request
  const args = [databaseVersion, collectionUuid].join(' ')
  return host.ddl.coordinate(host, { operation: 'dropCollection', names: [ns], databaseVersion, args }, () =>
    drop(host, request),
  )
}

async function drop(
  host: DdlHost,
  { ns, collectionUuid }: RequestOf<'shard.drop-collection'>,
): Promise<ReplyOf<'shard.drop-collection'>> {
  const { node, placements, critical, ddl } = host
  const { context } = node
  return critical.hold(ns, async () => {
    const sharded = (await placements.refreshCollection(ns)) !== null
    expectUuid(node, ns, collectionUuid)
    const collection = node.collection(ns)
    // A temporary collection exists on this shard only, and must be droppable on a full disk.
    if (!sharded && (collection === undefined || isTemporary(collection))) {
      if (collection === undefined && node.behaviours.routersDropMissingCollections) await removeZones(host, ns)
      const dropped = dropLocalNamespace(node, ns)
      await node.flushToMajority()
      return { existed: dropped !== null, indexCount: dropped?.indexCount ?? null, error: null }
    }
    const indexCount = collection?.indexes().length ?? 0
    await stopSampling(node, [ns])
    if (sharded) await logChange(context, 'dropCollection.start', ns, new DocumentWriter().finish())
    await context.reach('shard.drop-collection.started', { ns })
    const record: DropCollectionRecord = { operation: 'dropCollection', ns, sharded }
    await ddl.records.begin(record)
    await finishDrop(host, record)
    return { existed: true, indexCount, error: null }
  })
}

async function finishDrop(host: DdlHost, record: DropCollectionRecord): Promise<void> {
  const { node, placements, ddl, migrations } = host
  const { context } = node
  const { ns, sharded } = record
  if (sharded || node.behaviours.routersDropMissingCollections) {
    await retryUntilDone(node, async () => {
      await removeZones(host, ns)
      if (sharded) await context.reach('shard.drop-collection.committed', { ns })
    })
  }
  migrations.abortReceiving((each) => each === ns)
  dropLocalNamespace(node, ns)
  await node.flushToMajority()
  placements.forgetCollection(ns)
  // Shards without chunks and earlier primary shards have copies as well.
  await retryUntilDone(node, async () => {
    await forEachShard(await otherShards(context), (shard) =>
      context.request(shard, 'shard.drop-local-collection', { ns }),
    )
    if (sharded) await logChange(context, 'dropCollection', ns, new DocumentWriter().finish())
  })
  await ddl.records.finish(record)
}

/** And the entry of the collection, if it has one. */
async function removeZones({ node: { context } }: DdlHost, ns: string): Promise<void> {
  raiseError((await context.request(configAddress, 'config.commit-drop-collection', { ns })).error)
}

export const dropCollectionRecovery: DdlRecovery<DropCollectionRecord, DdlHost> = {
  hold: ({ critical }, { ns }, work) => critical.hold(ns, work),
  resume: finishDrop,
}
