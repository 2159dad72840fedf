/**
 * Server: balancer.cpp, sharding_catalog_manager_chunk_operations.cpp (splitOrMarkJumbo),
 * balancer_configuration.cpp, sharding_logging.cpp.
 */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { BsonType, boolValue, compareDocuments, findField, toExtendedJson } from '@shardlab/bson'
import { logAction } from '../changelog.js'
import { CollectionChunks } from '../chunks/chunk-operations.js'
import { withFields } from '../store/document-changes.js'
import { maxChunkSizeBytes } from '../settings/chunk-size.js'
import type { MigrationHost, ConfigHandlers } from '../host.js'

export const balancerHandlers: ConfigHandlers<
  | 'config.get-collections'
  | 'config.get-split-settings'
  | 'config.log-action'
  | 'config.mark-chunk-jumbo'
  | 'config.disable-balancing',
  MigrationHost
> = {
  'config.get-collections': (catalog) => ({ collections: catalog.collections() }),
  'config.get-split-settings': splitSettings,
  async 'config.log-action'(catalog, { what, details }) {
    logAction(catalog, { what, ns: '', details })
    await catalog.node.flushToMajority()
    return {}
  },
  'config.mark-chunk-jumbo': markJumbo,
  'config.disable-balancing': disableBalancing,
}

/**
 * Server: BalancerConfiguration, AutoSplitSettingsType; `noAutoSplit` of a collection since 5.3.
 */
function splitSettings(
  catalog: MigrationHost,
  { ns }: RequestOf<'config.get-split-settings'>,
): ReplyOf<'config.get-split-settings'> {
  const { store } = catalog
  const collection = catalog.collection(ns)
  const setting = store.get('config.settings', 'autosplit')
  const enabled = setting === null ? undefined : findField(setting, 'enabled')
  const switchedOff = enabled?.type === BsonType.bool && !enabled.isTruthy()
  const excluded = collection !== null && findField(collection, 'noAutoSplit')?.isTruthy() === true
  return { maxChunkSizeBytes: maxChunkSizeBytes(catalog, collection), autoSplit: !switchedOff && !excluded }
}

async function markJumbo(
  catalog: MigrationHost,
  { ns, version, min, max }: RequestOf<'config.mark-chunk-jumbo'>,
): Promise<ReplyOf<'config.mark-chunk-jumbo'>> {
  const chunks = CollectionChunks.open(catalog, ns)
  const [epoch, seconds, increment] = version
  if (chunks === null || !chunks.isGeneration([epoch, [seconds, increment]])) return {}
  const chunk = chunks.at(min)
  if (chunk === null || compareDocuments(chunk.max, max) !== 0 || chunk.jumbo === true) return {}
  chunks.put({ ...chunk, jumbo: true }, 'range-first')
  await catalog.node.flushToMajority()
  const { context } = catalog.node
  context.emit({
    type: 'jumbo',
    atMs: context.now(),
    ns,
    shard: chunk.shard,
    min: toExtendedJson(min),
    max: toExtendedJson(max),
  })
  return {}
}

async function disableBalancing(
  catalog: MigrationHost,
  { ns }: RequestOf<'config.disable-balancing'>,
): Promise<ReplyOf<'config.disable-balancing'>> {
  const collection = catalog.collection(ns)
  if (collection === null) return {}
  catalog.store.put('config.collections', withFields(collection, { noBalance: boolValue(true) }))
  await catalog.node.flushToMajority()
  return {}
}
