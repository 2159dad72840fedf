import type { CollectionCountsTuple, ReplyOf, RequestOf } from '@shardlab/actor'
import { sameBytes } from '@shardlab/bson'
import { hexOfKey } from '@shardlab/sharding'
import type { ShardHandlers } from '../host/handlers.js'
import type { CollectionPlacements, OrphanCounter, ShardHost } from '../host/host.js'
import type { RangeStore } from './collection-ranges.js'
import { ownedBytesOf } from './size-reports.js'

interface SizesHost extends ShardHost {
  readonly placements: CollectionPlacements
  readonly ranges: RangeStore
  readonly orphans: OrphanCounter
}

export const rangeHandlers: ShardHandlers<
  'shard.chunk-sizes' | 'shard.collection-counts' | 'shard.measure-range' | 'shard.collection-sizes',
  SizesHost
> = {
  'shard.chunk-sizes': chunkSizes,
  'shard.collection-counts': collectionCounts,
  'shard.measure-range': measureRange,
  'shard.collection-sizes': (host, { namespaces }) => ({ sizes: namespaces.map((ns) => ownedBytes(host, ns)) }),
}

async function chunkSizes(
  { node, ranges, placements }: SizesHost,
  { ns }: RequestOf<'shard.chunk-sizes'>,
): Promise<ReplyOf<'shard.chunk-sizes'>> {
  const placement = await placements.refreshCollection(ns)
  const collection = node.collection(ns)
  if (placement === null || collection === undefined || !sameBytes(placement.uuid, collection.uuid))
    return { keys: [], ends: [], documents: [], bytes: [], error: null }
  const own = [...placement.table.chunks()].filter(({ shard }) => shard === node.context.address)
  const sized = await ranges.of(collection).chunkSizes(own, placement.shardKey)
  return {
    keys: sized.map(({ key }) => hexOfKey(key)),
    ends: sized.map(({ end }) => hexOfKey(end)),
    documents: sized.map(({ documents }) => documents),
    bytes: sized.map(({ bytes }) => bytes),
    error: null,
  }
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
