import type { CollectionCountsTuple, ReplyOf, RequestOf } from '@shardlab/actor'
import type { ShardHandlers } from '../host/handlers.js'
import type { ShardHost, OrphanCounter } from '../host/host.js'
import type { RangeStore } from './collection-ranges.js'
import { ownedBytesOf } from './size-reports.js'

interface SizesHost extends ShardHost {
  readonly ranges: RangeStore
  readonly orphans: OrphanCounter
}

export const rangeHandlers: ShardHandlers<
  'shard.collection-counts' | 'shard.measure-range' | 'shard.collection-sizes',
  SizesHost
> = {
  'shard.collection-counts': collectionCounts,
  'shard.measure-range': measureRange,
  'shard.collection-sizes': (host, { namespaces }) => ({ sizes: namespaces.map((ns) => ownedBytes(host, ns)) }),
}

function collectionCounts(
  { node, ranges, orphans }: SizesHost,
  { namespaces }: RequestOf<'shard.collection-counts'>,
): ReplyOf<'shard.collection-counts'> {
  const collections = namespaces.flatMap((ns): CollectionCountsTuple[] => {
    const collection = node.collection(ns)
    if (collection === undefined) return []
    const { documents, bytes } = ranges.of(collection).totals
    return [[ns, documents, orphans.of(collection.uuid), documents === 0 ? null : Math.floor(bytes / documents)]]
  })
  return { collections }
}

function measureRange(
  { node, ranges }: SizesHost,
  request: RequestOf<'shard.measure-range'>,
): ReplyOf<'shard.measure-range'> {
  const collection = node.collection(request.ns)
  if (collection === undefined) return { sizeBytes: 0, isLarger: false, error: null }
  return { ...ranges.of(collection).sizeOf(request), error: null }
}

function ownedBytes(host: SizesHost, ns: string): number {
  const collection = host.node.collection(ns)
  return collection === undefined ? 0 : ownedBytesOf(host, collection)
}
