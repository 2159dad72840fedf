/**
 * Server: flush_routing_table_cache_updates_command.cpp,
 * flush_database_cache_updates_command.cpp.
 */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import type { ShardHandlers } from '../host/handlers.js'
import type { BlockedNamespaces, ShardHost } from '../host/host.js'
import type { PlacementState } from './placement-state.js'

export interface FlushHost extends ShardHost {
  readonly critical: Pick<BlockedNamespaces, 'blockingReads'>
  readonly placements: Pick<PlacementState, 'refreshCollectionAnew' | 'refreshDatabaseAnew'>
}

export const flushHandlers: ShardHandlers<'shard.flush-placement', FlushHost> = {
  'shard.flush-placement': flushPlacement,
}

/** Reads that the secondary admits under the placement need what this primary then has. */
async function flushPlacement(
  { node, critical, placements }: FlushHost,
  { name }: RequestOf<'shard.flush-placement'>,
): Promise<ReplyOf<'shard.flush-placement'>> {
  for (;;) {
    await critical.blockingReads(name)
    if (name.includes('.')) await placements.refreshCollectionAnew(name)
    else await placements.refreshDatabaseAnew(name)
    // A critical section may have begun during the refresh.
    if (critical.blockingReads(name) === undefined) return { appliedTs: node.set.appliedTs, error: null }
  }
}
