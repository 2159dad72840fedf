/** Where this shard would split a range, as the version does it when nobody asked for a split. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { ShardKeyPattern, type Behaviours } from '@shardlab/sharding'
import { splitVector } from '../ranges/stored/split-vector.js'
import type { CollectionRanges } from '../ranges/collection-ranges.js'
import { rangesOf } from '../ranges/ranges-of.js'
import type { ShardParts } from '../shard-parts.js'
import { autoSplitVector, type AutoSplitRequest } from '../ranges/stored/auto-split-vector.js'

/** @throws CommandError 26 NamespaceNotFound, 27 IndexNotFound, 96 OperationFailed for a range without documents where the version says so */
export function splitPoints(
  { splitsLeaveFullChunks }: Behaviours,
  ranges: CollectionRanges | undefined,
  ns: string,
  request: AutoSplitRequest,
): Uint8Array[] {
  if (splitsLeaveFullChunks)
    return ranges === undefined ? autoSplitVector(undefined, ns, request) : ranges.autoSplitVector(request)
  const { shardKey, range, maxChunkSizeBytes, pointsMax } = request
  const { min, max } = range
  const wanted = { keyPattern: shardKey.document, min, max, maxChunkSizeBytes, maxSplitPoints: pointsMax }
  return ranges === undefined ? splitVector(undefined, wanted) : ranges.splitVector(wanted)
}

export function findSplitPoints(
  { node }: ShardParts,
  { ns, keyPattern, min, max, maxChunkSizeBytes, pointsMax }: RequestOf<'shard.find-split-points'>,
): ReplyOf<'shard.find-split-points'> {
  const shardKey = ShardKeyPattern.parse(keyPattern, { compoundHashed: true })
  const collection = node.collection(ns)
  const ranges = collection === undefined ? undefined : rangesOf(node, collection)
  const points = splitPoints(node.behaviours, ranges, ns, {
    shardKey,
    range: { min, max },
    maxChunkSizeBytes,
    pointsMax,
  })
  return { points, error: null }
}
