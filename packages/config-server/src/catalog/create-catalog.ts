/** The collections of the catalog, and what they hold from the beginning. Manual: reference/config-database. */
import type { RequestOf } from '@shardlab/actor'
import { DocumentWriter, emptyDocument, findField } from '@shardlab/bson'
import type { StorageNode } from '@shardlab/node'
import type { CatalogStore } from './catalog-store.js'
import { chunkSizeDocument, featureCompatibilityDocument, shardDocument, versionDocument } from './catalog-documents.js'

/** Makes what is not there; hosts that moved, new shards and the chunk size are taken over. {@link StorageNode.flush} follows. */
export function createCatalog(
  node: StorageNode,
  store: CatalogStore,
  { clusterId, shards, chunkSizeBytes }: RequestOf<'config.initialise'>,
): void {
  const { behaviours } = node
  const capped = (sizeBytes: number) => new DocumentWriter(64).bool('capped', true).int64('size', sizeBytes).finish()
  store.ensure('config.version', emptyDocument, [])
  store.ensure('config.shards', emptyDocument, [{ key: { host: 1 }, unique: true }])
  store.ensure('config.databases', emptyDocument, [])
  store.ensure('config.collections', emptyDocument, [])
  store.ensure(
    'config.chunks',
    emptyDocument,
    behaviours.chunksAreKeyedByUuid
      ? [
          { key: { uuid: 1, min: 1 }, unique: true },
          { key: { uuid: 1, shard: 1, min: 1 }, unique: true },
          { key: { uuid: 1, lastmod: 1 }, unique: true },
        ]
      : [
          { key: { ns: 1, min: 1 }, unique: true },
          { key: { ns: 1, shard: 1, min: 1 }, unique: true },
          { key: { ns: 1, lastmod: 1 }, unique: true },
        ],
  )
  store.ensure('config.settings', emptyDocument, [])
  store.ensure('config.mongos', emptyDocument, [])
  store.ensure('config.tags', emptyDocument, [{ key: { ns: 1, min: 1 }, unique: true }, { key: { ns: 1, tag: 1 } }])
  store.ensure('config.changelog', capped(200 * 1024 * 1024), [])
  store.ensure('config.actionlog', capped(20 * 1024 * 1024), [])
  store.ensure('config.locks', emptyDocument, [])
  store.ensure('admin.system.version', emptyDocument, [])
  if (store.get('admin.system.version', 'featureCompatibilityVersion') === null) {
    store.put('admin.system.version', featureCompatibilityDocument(behaviours))
  }
  if (store.get('config.version', 1) === null) store.put('config.version', versionDocument(behaviours, clusterId))
  const topologyTime = node.clock.tick()
  for (const [id, host] of shards) {
    const known = store.get('config.shards', id)
    if (known === null || findField(known, 'host')!.asString() !== host) store.put('config.shards', shardDocument(id, host, topologyTime))
  }
  if (chunkSizeBytes > 0) store.put('config.settings', chunkSizeDocument(chunkSizeBytes))
}
