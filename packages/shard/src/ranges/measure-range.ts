import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { rangesOf } from './ranges-of.js'
import type { ShardHandlers, ShardParts } from '../shard-parts.js'

export const rangeSizeHandlers: ShardHandlers<'shard.measure-range'> = { 'shard.measure-range': measureRange }

/** @throws CommandError 96 OperationFailed without an index that begins with the shard key */
function measureRange({ node }: ShardParts, request: RequestOf<'shard.measure-range'>): ReplyOf<'shard.measure-range'> {
  const collection = node.collection(request.ns)
  if (collection === undefined) return { sizeBytes: 0, isLarger: false, error: null }
  return { ...rangesOf(node, collection).sizeOf(request), error: null }
}
