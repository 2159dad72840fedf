/** Server: Balancer::getBalancerStatusForNs, balancer_chunk_selection_policy_impl.cpp. */
import type { ReplyOf } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { zoneSplitsOf, type ClusterView, type CollectionView } from '../cluster-view.js'
import type { Defragmentations } from '../defragmentation/defragmentations.js'
import type { Phase } from '../defragmentation/phase.js'
import { selectMigrations } from '../policy/select-migrations.js'

export interface StatusParts {
  readonly view: ClusterView
  readonly behaviours: Behaviours
  readonly defragmentations: Defragmentations
}

/**
 * @returns the chunk size, and the first violation found
 * @throws CommandError 118 NamespaceNotSharded
 */
export async function collectionStatus(
  { view, behaviours, defragmentations }: StatusParts,
  ns: string,
): Promise<Omit<ReplyOf<'balancer.collection-status'>, 'error'>> {
  const collection = await requireSharded(view, behaviours, ns)
  const maxChunkSizeBytes = collection.maxChunkSizeBytes ?? (await view.chunkSizeBytes())
  const status = (violation: string | null) => ({ chunkSizeBytes: maxChunkSizeBytes, violation, details: null })
  if (collection.isDefragmenting && behaviours.collectionBalancingCanBeConfigured)
    return { ...status('defragmentingChunks'), details: progressOf(defragmentations.phaseOf(collection.document)) }
  if (zoneSplitsOf(collection).length > 0) return status('zoneViolation')
  const shards = await view.shards()
  if (shards.length < 2) return status(null)
  const bytes = behaviours.balancerMovesDataBySize ? await bytesOf(view, shards, ns) : new Map<string, number>()
  const load = view.load(shards, collection, bytes, maxChunkSizeBytes)
  const available = new Set(shards.map(({ id }) => id))
  const { migrations } = selectMigrations({
    shards,
    distribution: collection.distribution,
    load,
    available,
    attemptJumbo: false,
  })
  return status(migrations[0]?.reason ?? null)
}

/** Server: BalancerDefragmentationPolicy::reportProgressOn. */
function progressOf(phase: Phase | null): Uint8Array {
  const writer = new DocumentWriter(96)
  if (phase === null) return writer.string('currentPhase', 'none').finish()
  writer.string('currentPhase', phase.name).startDocument('progress').int64('remainingChunksToProcess', phase.remaining)
  return writer.end().finish()
}

/**
 * @throws CommandError 118 NamespaceNotSharded; 26 NamespaceNotFound without the database, in
 *   versions that read the routing information
 */
export async function requireSharded(view: ClusterView, behaviours: Behaviours, ns: string): Promise<CollectionView> {
  const collection = await view.collection(ns)
  if (collection !== null) return collection
  if (!behaviours.balancerCollectionStatusReadsRouting)
    throw new CommandError('NamespaceNotSharded', 'Collection unsharded or undefined')
  const db = ns.slice(0, ns.indexOf('.'))
  if (!(await view.hasDatabase(db))) throw new CommandError('NamespaceNotFound', `database ${db} not found`)
  throw new CommandError('NamespaceNotSharded', `Collection ${ns} is not sharded.`)
}

/** By shard; shards that do not reply are missing. */
export async function bytesOf(
  view: ClusterView,
  shards: Parameters<ClusterView['sizes']>[0],
  ns: string,
): Promise<Map<string, number>> {
  const sizes = await view.sizes(shards, [ns])
  return new Map([...sizes].map(([shard, [bytes]]) => [shard, bytes!]))
}
