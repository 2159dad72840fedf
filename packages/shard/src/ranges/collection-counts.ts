import type { CollectionCountsTuple, ReplyOf, RequestOf } from '@shardlab/actor'
import { rangesOf } from './ranges-of.js'
import type { ShardHandlers, ShardParts } from '../shard-parts.js'
import { orphanCountOf } from '../range-deletion/orphan-counts.js'

export const statisticsHandlers: ShardHandlers<'shard.collection-counts'> = {
  'shard.collection-counts': collectionCounts,
}

function collectionCounts(
  { node }: ShardParts,
  { namespaces }: RequestOf<'shard.collection-counts'>,
): ReplyOf<'shard.collection-counts'> {
  const collections = namespaces.flatMap((ns): CollectionCountsTuple[] => {
    const collection = node.collection(ns)
    if (collection === undefined) return []
    const { documents, bytes } = rangesOf(node, collection).totals
    return [[ns, documents, orphanCountOf(node, collection), documents === 0 ? null : Math.floor(bytes / documents)]]
  })
  return { collections }
}
