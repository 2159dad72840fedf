import type { CollectionCountsTuple, ReplyOf, RequestOf } from '@shardlab/actor'
import type { ShardHandlers, ShardParts } from '../shard-parts.js'
import { orphanCountOf } from './orphans.js'

export const statisticsHandlers: ShardHandlers<'shard.collection-counts'> = { 'shard.collection-counts': collectionCounts }

function collectionCounts({ node }: ShardParts, { namespaces }: RequestOf<'shard.collection-counts'>): ReplyOf<'shard.collection-counts'> {
  const collections = namespaces.flatMap((ns): CollectionCountsTuple[] => {
    const collection = node.collection(ns)
    if (collection === undefined) return []
    const { count, dataSizeBytes } = collection
    return [[ns, count, orphanCountOf(node, collection), count === 0 ? null : Math.floor(dataSizeBytes / count)]]
  })
  return { collections }
}
