/** Manual: reference/config-database. */
import type { RequestOf } from '@shardlab/actor'
import { DocumentWriter, emptyDocument, encode, findField } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import type { CatalogStore } from './catalog-store.js'
import { chunkSizeDocument, featureCompatibilityDocument, shardDocument, versionDocument } from './catalog-documents.js'

const megabyte = 1024 * 1024

/** The validator restricts only chunk sizes. Server: _initConfigSettings. */
function settingsOptions(): Uint8Array {
  const chunkSize = { _id: { enum: ['chunksize'] }, value: { bsonType: 'number', minimum: 1, maximum: 1024 } }
  const others = { _id: { enum: ['balancer', 'autosplit', 'automerge', 'ReadWriteConcernDefaults', 'audit'] } }
  const $jsonSchema = { oneOf: [{ properties: chunkSize, additionalProperties: false }, { properties: others }] }
  return encode({ validator: { $jsonSchema }, validationLevel: 'strict', validationAction: 'error' })
}

/**
 * Creates what is missing, and updates hosts, shards and chunk size. The caller flushes the node.
 */
export function createCatalog(
  node: NodeHost,
  store: CatalogStore,
  { clusterId, shards, chunkSizeBytes }: RequestOf<'config.initialise'>,
): void {
  const { behaviours } = node
  const capped = (sizeBytes: number) => new DocumentWriter(64).bool('capped', true).int64('size', sizeBytes).finish()
  store.ensure('config.version', emptyDocument, [])
  store.ensure('config.shards', emptyDocument, [{ key: { host: 1 }, unique: true }])
  store.ensure('config.databases', emptyDocument, [])
  store.ensure('config.collections', emptyDocument, [])
  const chunkOwner: Record<string, 1> = behaviours.chunksAreKeyedByUuid ? { uuid: 1 } : { ns: 1 }
  store.ensure('config.chunks', emptyDocument, [
    { key: { ...chunkOwner, min: 1 }, unique: true },
    { key: { ...chunkOwner, shard: 1, min: 1 }, unique: true },
    { key: { ...chunkOwner, lastmod: 1 }, unique: true },
    ...(behaviours.chunksHaveOnCurrentShardSince
      ? [{ key: { ...chunkOwner, shard: 1, onCurrentShardSince: 1 } as const }]
      : []),
  ])
  store.ensure('config.settings', behaviours.settingsHaveSchema ? settingsOptions() : emptyDocument, [])
  store.ensure('config.mongos', emptyDocument, [])
  store.ensure('config.tags', emptyDocument, [{ key: { ns: 1, min: 1 }, unique: true }, { key: { ns: 1, tag: 1 } }])
  store.ensure('config.changelog', capped(behaviours.changelogMegabytes * megabyte), [])
  store.ensure('config.actionlog', capped(behaviours.actionlogMegabytes * megabyte), [])
  if (behaviours.catalogHasLocks) {
    store.ensure('config.locks', emptyDocument, [{ key: { ts: 1 } }, { key: { state: 1, process: 1 } }])
    store.ensure('config.lockpings', emptyDocument, [{ key: { ping: 1 } }])
  }
  if (behaviours.catalogHasMigrations)
    store.ensure('config.migrations', emptyDocument, [{ key: { ns: 1, min: 1 }, unique: true }])
  store.ensure('admin.system.version', emptyDocument, [])
  if (store.get('admin.system.version', 'featureCompatibilityVersion') === null) {
    store.put('admin.system.version', featureCompatibilityDocument(behaviours))
  }
  if (store.get('config.version', 1) === null) store.put('config.version', versionDocument(behaviours, clusterId))
  const topologyTime = node.clock.tick()
  for (const [id, host] of shards) {
    const known = store.get('config.shards', id)
    if (known === null || findField(known, 'host')!.asString() !== host)
      store.put('config.shards', shardDocument(behaviours, id, host, topologyTime))
  }
  if (chunkSizeBytes > 0) store.put('config.settings', chunkSizeDocument(chunkSizeBytes))
}
