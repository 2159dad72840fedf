/** The members of the cluster: its first contact, its shards, its routers. Server: sharding_uptime_reporter.cpp. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { concernDefaultsId } from '@shardlab/node'
import { mongosDocument } from './catalog-documents.js'
import { createCatalog } from './create-catalog.js'
import type { ConfigHandlers, ShardingCatalog } from './sharding-catalog.js'

export const memberHandlers: ConfigHandlers<'config.initialise' | 'config.get-shards' | 'config.mongos-ping'> = {
  'config.initialise': initialise,
  'config.get-shards': ({ store, node }) => ({ shards: store.all('config.shards'), clusterTime: node.clock.time }),
  'config.mongos-ping': mongosPing,
}

async function initialise(
  catalog: ShardingCatalog,
  request: RequestOf<'config.initialise'>,
): Promise<ReplyOf<'config.initialise'>> {
  createCatalog(catalog.node, catalog.store, request)
  await catalog.node.flush()
  return {}
}

async function mongosPing(
  catalog: ShardingCatalog,
  request: RequestOf<'config.mongos-ping'>,
): Promise<ReplyOf<'config.mongos-ping'>> {
  catalog.store.put(
    'config.mongos',
    mongosDocument(catalog.behaviours, { ...request, pingMs: catalog.node.context.now() }),
  )
  await catalog.node.flush()
  return { clusterId: catalog.clusterId(), concernDefaults: catalog.store.get('config.settings', concernDefaultsId) }
}
