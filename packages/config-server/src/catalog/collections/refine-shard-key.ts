/** Server: sharding_catalog_manager_collection_operations.cpp, refineCollectionShardKey. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  documentValue,
  DocumentWriter,
  fieldsOf,
  findField,
  hexOf,
  maxKeyValue,
  minKeyValue,
  objectIdValue,
  timestampValue,
  type RawValue,
} from '@shardlab/bson'
import { ShardKeyPattern } from '@shardlab/sharding'
import { logChange } from '../changelog.js'
import { withFields } from '../store/document-changes.js'
import type { CatalogHost, ConfigHandlers } from '../host.js'

export const refineShardKeyHandlers: ConfigHandlers<'config.commit-refine-shard-key'> = {
  'config.commit-refine-shard-key': commitRefine,
}

async function commitRefine(
  catalog: CatalogHost,
  { ns, key, epoch }: RequestOf<'config.commit-refine-shard-key'>,
): Promise<ReplyOf<'config.commit-refine-shard-key'>> {
  const { store, behaviours, node } = catalog
  const collection = catalog.collection(ns)
  if (collection === null)
    throw new CommandError('NamespaceNotSharded', `refineCollectionShardKey namespace ${ns} is not sharded`)
  const oldEpoch = findField(collection, 'lastmodEpoch')!
  if (hexOf(oldEpoch.slice()) !== epoch) {
    throw new CommandError(
      'StaleEpoch',
      `refineCollectionShardKey namespace ${ns} has a different epoch than mongos had in its routing table cache`,
    )
  }
  const shardKey = ShardKeyPattern.parse(key, { compoundHashed: true })
  const newEpoch = objectIdValue(node.newObjectId())
  const start = new DocumentWriter(256).value('oldKey', findField(collection, 'key')!).document('newKey', key)
  logChange(catalog, {
    what: 'refineCollectionShardKey.start',
    ns,
    details: start.value('oldEpoch', oldEpoch).value('newEpoch', newEpoch).finish(),
  })
  const generation: Record<string, RawValue> = { lastmodEpoch: newEpoch }
  if (behaviours.chunksAreKeyedByUuid) generation['timestamp'] = timestampValue(...node.clock.tick())
  const chunks = catalog.chunks(collection)
  store.put('config.collections', withFields(collection, { ...generation, key: documentValue(key) }))
  for (const chunk of chunks) {
    const changes: Record<string, RawValue | null> = { ...boundsOf(shardKey, chunk), jumbo: null }
    if (!behaviours.chunksAreKeyedByUuid) changes['lastmodEpoch'] = newEpoch
    store.put('config.chunks', withFields(chunk, changes))
  }
  for (const tag of catalog.zonesOf(ns)) store.put('config.tags', withFields(tag, boundsOf(shardKey, tag)))
  logChange(catalog, { what: 'refineCollectionShardKey.end', ns, details: new DocumentWriter().finish() })
  await node.flushToMajority()
  catalog.emitChange('shard-key-refined', ns)
  return { error: null }
}

/**
 * Bounds extended by the new fields: with MaxKey where all others are MaxKey, otherwise with
 * MinKey.
 */
function boundsOf(shardKey: ShardKeyPattern, document: Uint8Array): { min: RawValue; max: RawValue } {
  const min = findField(document, 'min')!.slice()
  const max = findField(document, 'max')!.slice()
  const isGlobalMax = fieldsOf(max).every(([, { type }]) => type === BsonType.maxKey)
  return {
    min: documentValue(shardKey.extendBound(min, minKeyValue)),
    max: documentValue(shardKey.extendBound(max, isGlobalMax ? maxKeyValue : minKeyValue)),
  }
}
