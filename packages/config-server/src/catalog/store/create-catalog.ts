/** Manual: reference/config-database. */
import type { RequestOf } from '@shardlab/actor'
import { DocumentWriter, emptyDocument, findField, int32Value } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import type { CatalogStore } from './catalog-store.js'
import { chunkSizeDocument, featureCompatibilityDocument, shardDocument, versionDocument } from './catalog-documents.js'

const megabyte = 1024 * 1024

const otherSettings = ['balancer', 'autosplit', 'automerge', 'ReadWriteConcernDefaults', 'audit']

/** The validator restricts only chunk sizes. Server: _initConfigSettings. */
function settingsOptions(): Uint8Array {
  const writer = new DocumentWriter(512).startDocument('validator').startDocument('$jsonSchema').startArray('oneOf')
  idsOf(writer.startDocument('0').startDocument('properties'), ['chunksize'])
    .startDocument('value')
    .string('bsonType', 'number')
    .int32('minimum', 1)
    .int32('maximum', 1024)
    .end()
    .end()
    .bool('additionalProperties', false)
    .end()
  idsOf(writer.startDocument('1').startDocument('properties'), otherSettings).end().end()
  writer.end().end().end()
  return writer.string('validationLevel', 'strict').string('validationAction', 'error').finish()
}

function idsOf(properties: DocumentWriter, ids: readonly string[]): DocumentWriter {
  properties.startDocument('_id').startArray('enum')
  ids.forEach((id, i) => properties.string(String(i), id))
  return properties.end().end()
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
  store.ensure('config.shards', emptyDocument, [{ fields: ['host'], unique: true }])
  store.ensure('config.databases', emptyDocument, [])
  store.ensure('config.collections', emptyDocument, [])
  const chunkOwner = behaviours.chunksAreKeyedByUuid ? 'uuid' : 'ns'
  store.ensure('config.chunks', emptyDocument, [
    { fields: [chunkOwner, 'min'], unique: true },
    { fields: [chunkOwner, 'shard', 'min'], unique: true },
    { fields: [chunkOwner, 'lastmod'], unique: true },
    ...(behaviours.chunksHaveOnCurrentShardSince ? [{ fields: [chunkOwner, 'shard', 'onCurrentShardSince'] }] : []),
  ])
  store.ensure('config.settings', behaviours.settingsHaveSchema ? settingsOptions() : emptyDocument, [])
  store.ensure('config.mongos', emptyDocument, [])
  store.ensure('config.tags', emptyDocument, [{ fields: ['ns', 'min'], unique: true }, { fields: ['ns', 'tag'] }])
  store.ensure('config.changelog', capped(behaviours.changelogMegabytes * megabyte), [])
  store.ensure('config.actionlog', capped(behaviours.actionlogMegabytes * megabyte), [])
  if (behaviours.catalogHasLocks) {
    store.ensure('config.locks', emptyDocument, [{ fields: ['ts'] }, { fields: ['state', 'process'] }])
    store.ensure('config.lockpings', emptyDocument, [{ fields: ['ping'] }])
  }
  if (behaviours.catalogHasMigrations)
    store.ensure('config.migrations', emptyDocument, [{ fields: ['ns', 'min'], unique: true }])
  store.ensure('admin.system.version', emptyDocument, [])
  if (store.get('admin.system.version', 'featureCompatibilityVersion') === null) {
    store.put('admin.system.version', featureCompatibilityDocument(behaviours))
  }
  if (store.getById('config.version', int32Value(1)) === null)
    store.put('config.version', versionDocument(behaviours, clusterId))
  const topologyTime = node.clock.tick()
  for (const [id, host] of shards) {
    const known = store.get('config.shards', id)
    if (known === null || findField(known, 'host')!.asString() !== host)
      store.put('config.shards', shardDocument(behaviours, id, host, topologyTime))
  }
  if (chunkSizeBytes > 0) store.put('config.settings', chunkSizeDocument(chunkSizeBytes))
}
