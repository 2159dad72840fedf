/** config.changelog. Server: sharding_logging.cpp. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { changelogDocument } from './catalog-documents.js'
import type { ConfigHandlers, ShardingCatalog } from './sharding-catalog.js'

export const changelogHandlers: ConfigHandlers<'config.log-change'> = { 'config.log-change': logChange }

async function logChange(
  catalog: ShardingCatalog,
  { what, ns, details, from }: RequestOf<'config.log-change'>,
): Promise<ReplyOf<'config.log-change'>> {
  const timeMs = catalog.node.context.now()
  const shard = from.split(':', 1)[0]!
  const server = from.slice(shard.length + 1)
  const id = `${server}-${new Date(timeMs).toISOString()}-${Buffer.from(catalog.node.newObjectId()).toString('hex')}`
  catalog.store.put('config.changelog', changelogDocument({ id, server, shard, timeMs, what, ns, details }))
  await catalog.node.flush()
  return {}
}
