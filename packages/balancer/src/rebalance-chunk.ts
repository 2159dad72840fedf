/** One chunk goes where there are fewer. Server: Balancer::rebalanceSingleChunk, BalancerPolicy::balanceSingleChunk. */
import { CommandError } from '@shardlab/bson'
import type { ChunkOperations } from './chunk-operations.js'
import type { ClusterView } from './cluster-view.js'
import { chunkCountLoad, leastLoadedReceiver } from './policy/index.js'
import { isActiveBetweenRounds, type BalancerSettings } from './settings.js'

export interface RebalanceParts {
  readonly view: ClusterView
  readonly operations: ChunkOperations
  readonly settings: BalancerSettings
  readonly nowMs: number
}

/**
 * Moves the chunk that begins at `min` to the shard with the fewest chunks that may have it. Nothing happens when that is its own, or when the
 * balancer may not touch the collection now.
 * @throws CommandError 96 OperationFailed when it was not moved; RequestFailedError when nobody knows
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
  const to = leastLoadedReceiver({ shards, available, load }, collection.distribution.zoneOf(chunk))
  if (to === null || to === chunk.shard) return
  const { outcome, error } = await operations.move({ collection, chunk, to, force: false }, settings.waitForDelete)
  if (outcome !== 'moved') throw new CommandError('OperationFailed', error!)
}
