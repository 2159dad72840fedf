import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { ShardKeyPattern } from '@shardlab/sharding'
import type { ShardHost } from '../host/host.js'
import type { AutoSplitRequest, CollectionRanges, RangeStore } from '../ranges/collection-ranges.js'

export interface SplitPointsHost extends ShardHost {
  readonly ranges: RangeStore
}

/** @throws CommandError 27 IndexNotFound; 96 OperationFailed for an empty range in some versions */
export function splitPoints(
  { behaviours }: NodeHost,
  ranges: CollectionRanges,
  request: AutoSplitRequest,
): Promise<Uint8Array[]> {
  if (behaviours.autoSplitLeavesFullChunks) return ranges.autoSplitVector(request)
  const { shardKey, range, maxChunkSizeBytes, pointsMax } = request
  const { min, max } = range
  const wanted = { keyPattern: shardKey.document, min, max, maxChunkSizeBytes, maxSplitPoints: pointsMax }
  return ranges.splitVector(wanted, null)
}

/** @throws CommandError 26 NamespaceNotFound; as {@link splitPoints} */
export async function findSplitPoints(
  { node, ranges }: SplitPointsHost,
  { ns, keyPattern, min, max, maxChunkSizeBytes, pointsMax }: RequestOf<'shard.find-split-points'>,
): Promise<ReplyOf<'shard.find-split-points'>> {
  const { behaviours } = node
  const shardKey = ShardKeyPattern.parse(keyPattern, { compoundHashed: true })
  const collection = node.collection(ns)
  if (collection === undefined)
    throw new CommandError(
      'NamespaceNotFound',
      behaviours.autoSplitLeavesFullChunks ? `namespace ${ns} does not exists` : 'ns not found',
    )
  const request = { shardKey, range: { min, max }, maxChunkSizeBytes, pointsMax }
  return { points: await splitPoints(node, ranges.of(collection), request), error: null }
}
