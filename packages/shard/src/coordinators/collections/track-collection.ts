/**
 * Adds an unsharded collection to the catalog, with one chunk: moveCollection requires an entry.
 * Server: create_collection_coordinator.cpp, registerExistingCollectionInGlobalCatalog.
 */
import { configAddress } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { raiseError, viewOf } from '@shardlab/node'
import type { CoordinatorHost } from '../ddl-host.js'

/**
 * Runs on the primary shard. Has no effect on a view or a tracked collection.
 * @param to the shard that the collection will move to
 * @param databaseUuid of the database's version
 * @throws CommandError 26 NamespaceNotFound, 70 ShardNotFound, 249 StaleDbVersion
 */
export async function trackCollection(
  { node, placements, critical }: CoordinatorHost,
  ns: string,
  to: string,
  databaseUuid: string,
): Promise<void> {
  await critical.hold(ns, async () => {
    if ((await placements.refreshCollection(ns)) !== null) return
    const collection = node.collection(ns)
    if (collection === undefined) {
      if (viewOf(node, ns) !== null) return
      throw new CommandError('NamespaceNotFound', `Namespace ${ns} not found`)
    }
    const { uuid, defaultCollation } = collection
    const request = { ns, uuid, defaultCollation, shard: node.context.address, to, databaseUuid }
    raiseError((await node.context.request(configAddress, 'config.track-collection', request)).error)
    await node.context.reach('shard.track-collection.committed', { ns })
    await placements.refreshCollection(ns)
  })
}
