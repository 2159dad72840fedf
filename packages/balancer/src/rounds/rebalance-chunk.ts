/** Server: Balancer::rebalanceSingleChunk, BalancerPolicy::balanceSingleChunk. */
import { CommandError } from '@shardlab/bson'
import type { ChunkOperations } from './chunk-operations.js'
import type { ClusterView } from '../cluster-view.js'
import { chunkCountLoad, leastLoadedRecipient } from '../policy/index.js'
import { isActiveBetweenRounds, type BalancerSettings } from '../settings/settings.js'

export interface RebalanceParts {
  readonly view: ClusterView
  readonly operations: ChunkOperations
  readonly settings: BalancerSettings
  readonly nowMs: number
}

/**
 * Moves the chunk that starts at `min` to the shard with the fewest chunks that may receive it.
 * Does nothing if that shard owns it, or if the balancer may not change the collection now.
 * @throws CommandError 96 OperationFailed when it was not moved
 * @throws RequestFailedError when the outcome is unknown
 */
export async function rebalanceChunk(
  { view, operations, settings, nowMs }: RebalanceParts,
  ns: string,
  min: Uint8Array,
): Promise<void> {
  if (!isActiveBetweenRounds(settings, nowMs)) return
  const collection = await view.collection(ns)
  if (collection === null || collection.isSwitchedOff || !collection.mayMigrate) return
  const chunk = collection.chunks.at(collection.chunks.shardKey.keyStringOfBound(min) ?? '')
  if (chunk === undefined) return
  const shards = await view.shards()
  const available = new Set(shards.map(({ id }) => id))
  const load = chunkCountLoad(shards, collection.distribution)
  const to = leastLoadedRecipient({ shards, available, load }, collection.distribution.zoneOf(chunk))
  if (to === null || to === chunk.shard) return
  const { outcome, error } = await operations.move({ collection, chunk, to, force: false }, settings)
  if (outcome !== 'moved') throw new CommandError('OperationFailed', error!)
}
