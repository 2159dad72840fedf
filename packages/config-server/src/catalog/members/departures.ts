/**
 * When shards left the cluster. A shard that has come back may lack what was stored on it for an
 * unfinished operation: its databases had to be dropped. A commit planned before is refused.
 * Since 8.0 the server drains operations before a shard joins or leaves instead
 * (topology_change_helpers.cpp); before, such a commit succeeds.
 */
import type { TimestampPair } from '@shardlab/actor'
import { CommandError, compareValues, DocumentWriter, findField, timestampValue } from '@shardlab/bson'
import type { CatalogHost } from '../host.js'

/** Not in `config`: it has no counterpart on the server. */
const departuresNs = 'local.shardlabDepartures'

/** The caller flushes the node. */
export function recordDeparture({ node, store }: CatalogHost, shard: string): void {
  const [t, i] = node.clock.tick()
  store.put(departuresNs, new DocumentWriter(64).string('_id', shard).timestamp('at', t, i).finish())
}

/** @throws CommandError 70 ShardNotFound: it is not a member, or has left since `plannedAt` */
export function checkMember(catalog: CatalogHost, shard: string, plannedAt: TimestampPair): void {
  if (catalog.store.get('config.shards', shard) === null || hasLeftSince(catalog, shard, plannedAt))
    throw new CommandError('ShardNotFound', `Shard ${shard} not found`)
}

export function hasLeftSince({ store }: CatalogHost, shard: string, time: TimestampPair): boolean {
  const departure = store.get(departuresNs, shard)
  return departure !== null && compareValues(findField(departure, 'at'), timestampValue(...time)) > 0
}
