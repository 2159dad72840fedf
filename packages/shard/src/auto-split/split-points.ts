/** Where this shard would split a range, as the version does it when nobody asked for a split. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { ShardKeyPattern, type Behaviours } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import { splitVector } from '../chunks/split-vector.js'
import type { ShardParts } from '../shard-parts.js'
import { autoSplitVector, type AutoSplitRequest } from './auto-split-vector.js'

/** @throws CommandError 26 NamespaceNotFound, 27 IndexNotFound, 96 OperationFailed for a range without documents where the version says so */
export function splitPoints(
  { splitsLeaveFullChunks }: Behaviours,
  collection: Collection | undefined,
  ns: string,
  request: AutoSplitRequest,
): Uint8Array[] {
  if (splitsLeaveFullChunks) return autoSplitVector(collection, ns, request)
  const { shardKey, range, maxChunkSizeBytes, pointsMax } = request
  return splitVector(collection, {
    keyPattern: shardKey.document,
    min: range.min,
    max: range.max,
    maxChunkSizeBytes,
    maxSplitPoints: pointsMax,
  })
}

export function findSplitPoints(
  { node }: ShardParts,
  { ns, keyPattern, min, max, maxChunkSizeBytes, pointsMax }: RequestOf<'shard.find-split-points'>,
): ReplyOf<'shard.find-split-points'> {
  const shardKey = ShardKeyPattern.parse(keyPattern, { compoundHashed: true })
  const points = splitPoints(node.behaviours, node.collection(ns), ns, { shardKey, range: { min, max }, maxChunkSizeBytes, pointsMax })
  return { points, error: null }
}
