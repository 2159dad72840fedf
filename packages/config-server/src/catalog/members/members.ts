/** Server: sharding_uptime_reporter.cpp. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { concernDefaultsId, querySettingsParameter } from '@shardlab/member'
import { storedClusterParameter } from '@shardlab/node'
import { maxChunkSizeBytes } from '../settings/chunk-size.js'
import { mongosDocument } from '../store/catalog-documents.js'
import { createCatalog } from '../store/create-catalog.js'
import type { CatalogHost, ConfigHandlers } from '../host.js'

export const memberHandlers: ConfigHandlers<
  'config.initialise' | 'config.get-shards' | 'config.get-time-keys' | 'config.mongos-ping'
> = {
  'config.initialise': initialise,
  'config.get-shards': ({ store, node }) => ({ shards: store.all('config.shards'), clusterTime: node.clock.time }),
  'config.get-time-keys': async ({ node }) => ({ keys: (await node.timeKeys?.complete()) ?? [] }),
  'config.mongos-ping': mongosPing,
}

async function initialise(
  catalog: CatalogHost,
  request: RequestOf<'config.initialise'>,
): Promise<ReplyOf<'config.initialise'>> {
  createCatalog(catalog.node, catalog.store, request)
  await catalog.node.flushToMajority()
  return {}
}

async function mongosPing(
  catalog: CatalogHost,
  request: RequestOf<'config.mongos-ping'>,
): Promise<ReplyOf<'config.mongos-ping'>> {
  catalog.store.put(
    'config.mongos',
    mongosDocument(catalog.behaviours, { ...request, pingMs: catalog.node.context.now() }),
  )
  await catalog.node.flushToMajority()
  return {
    clusterId: catalog.clusterId(),
    concernDefaults: catalog.store.get('config.settings', concernDefaultsId),
    chunkSizeBytes: maxChunkSizeBytes(catalog, null),
    querySettings: storedClusterParameter(catalog.node, querySettingsParameter) ?? null,
    userGeneration: generationOf(catalog.node),
  }
}

/** Of this process, so that a restarted config server has another one. */
function generationOf({ processId, users }: CatalogHost['node']): Uint8Array {
  const bytes = Buffer.alloc(processId.length + 4)
  bytes.set(processId)
  bytes.writeUInt32LE(users.generation, processId.length)
  return bytes
}
