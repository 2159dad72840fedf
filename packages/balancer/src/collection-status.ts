/** Whether a collection is as the balancer wants it. Server: Balancer::getBalancerStatusForNs, balancer_chunk_selection_policy_impl.cpp. */
import type { ReplyOf } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { zoneSplitsOf, type ClusterView, type CollectionView } from './cluster-view.js'
import { selectMigrations } from './policy/select-migrations.js'

const megabyte = 1024 * 1024

/**
 * @returns the chunk size and the first thing that is not as it should be
 * @throws CommandError 118 NamespaceNotSharded
 */
export async function collectionStatus(
  view: ClusterView,
  behaviours: Behaviours,
  ns: string,
): Promise<Omit<ReplyOf<'balancer.collection-status'>, 'error'>> {
  const collection = await requireSharded(view, behaviours, ns)
  const maxChunkSizeBytes = collection.maxChunkSizeBytes ?? (await view.chunkSizeBytes())
  const status = (violation: string | null) => ({ chunkSizeMb: Math.floor(maxChunkSizeBytes / megabyte), violation })
  if (zoneSplitsOf(collection).length > 0) return status('zoneViolation')
  const shards = await view.shards()
  if (shards.length < 2) return status(null)
  const bytes = behaviours.balancerMovesDataBySize ? await bytesOf(view, shards, ns) : new Map<string, number>()
  const load = view.load(shards, collection, bytes, maxChunkSizeBytes)
  const available = new Set(shards.map(({ id }) => id))
  const { migrations } = selectMigrations({ shards, distribution: collection.distribution, load, available, attemptJumbo: false })
  return status(migrations[0]?.reason ?? null)
}

/** @throws CommandError 118 NamespaceNotSharded */
export async function requireSharded(view: ClusterView, behaviours: Behaviours, ns: string): Promise<CollectionView> {
  const collection = await view.collection(ns)
  if (collection !== null) return collection
  throw new CommandError(
    'NamespaceNotSharded',
    behaviours.balancerCollectionStatusTellsChunkSize ? 'Collection unsharded or undefined' : `Collection ${ns} is not sharded.`,
  )
}

/** Bytes of one collection by shard; shards that do not answer are missing. */
export async function bytesOf(view: ClusterView, shards: Parameters<ClusterView['sizes']>[0], ns: string): Promise<Map<string, number>> {
  const sizes = await view.sizes(shards, [ns])
  return new Map([...sizes].map(([shard, [bytes]]) => [shard, bytes!]))
}
