/** Server: sharding_catalog_manager_collection_operations.cpp. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { boolValue, CommandError, DocumentWriter, int64Value, type RawValue } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import { isUnsplittable } from '../store/catalog-documents.js'
import { logChange } from '../changelog.js'
import { endDefragmentation } from './defragmentation.js'
import { withFields } from '../store/document-changes.js'
import type { ChunkHost, ConfigHandlers } from '../host.js'

export const collectionSwitchHandlers: ConfigHandlers<
  'config.configure-collection-balancing' | 'config.set-allow-migrations',
  ChunkHost
> = {
  'config.configure-collection-balancing': configure,
  'config.set-allow-migrations': setAllowMigrations,
}

const chunkSizeMbMax = 1024

async function configure(
  catalog: ChunkHost,
  { ns, chunkSizeMb, defragmentCollection, enableAutoMerger }: RequestOf<'config.configure-collection-balancing'>,
): Promise<ReplyOf<'config.configure-collection-balancing'>> {
  if (chunkSizeMb === null && defragmentCollection === null && enableAutoMerger === null) {
    if (catalog.behaviours.emptyBalancingConfigurationSucceeds) return { error: null }
    throw new CommandError('InvalidOptions', 'invalid configure collection balancing update')
  }
  // The order of fields is the server's.
  const changes: Record<string, RawValue | null> = {}
  if (defragmentCollection === true) changes['defragmentCollection'] = boolValue(true)
  if (enableAutoMerger !== null) changes['enableAutoMerge'] = boolValue(enableAutoMerger)
  if (chunkSizeMb !== null) {
    if (chunkSizeMb < 0 || chunkSizeMb > chunkSizeMbMax)
      throw new CommandError('InvalidOptions', `Chunk size '${chunkSizeMb}' out of range [1MB, 1GB]`)
    changes['maxChunkSizeBytes'] = chunkSizeMb === 0 ? null : int64Value(BigInt(chunkSizeMb) * 1_048_576n)
  }
  if (defragmentCollection === false) endDefragmentation(catalog, ns)
  const collection = catalog.collection(ns)
  if (collection === null) {
    const query = formatDocument(new DocumentWriter(64).string('_id', ns).finish())
    throw new CommandError('NamespaceNotSharded', `Expected to match one doc for query ${query} but matched 0`)
  }
  if (Object.keys(changes).length > 0) catalog.store.put('config.collections', withFields(collection, changes))
  const details = new DocumentWriter(64)
  if (chunkSizeMb !== null) details.int32('chunkSizeMB', chunkSizeMb)
  if (defragmentCollection !== null) details.bool('defragmentCollection', defragmentCollection)
  logChange(catalog, { what: 'configureCollectionBalancing', ns, details: details.finish() })
  await catalog.node.flushToMajority()
  return { error: null }
}

async function setAllowMigrations(
  catalog: ChunkHost,
  { ns, allowMigrations }: RequestOf<'config.set-allow-migrations'>,
): Promise<ReplyOf<'config.set-allow-migrations'>> {
  const collection = catalog.collection(ns)
  if (collection === null || isUnsplittable(collection))
    throw new CommandError('NamespaceNotSharded', 'Collection must be sharded so migrations can be blocked')
  catalog.store.put(
    'config.collections',
    withFields(collection, { permitMigrations: allowMigrations ? null : boolValue(false) }),
  )
  await catalog.node.flushToMajority()
  return { error: null }
}
