/**
 * For collStats and $collStats. Server: storage_stats.cpp; manual:
 * reference/operator/aggregation/collStats.
 */
import { CommandError, DocumentWriter, type RawValue } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import { writeEmptyStorageStats } from '@shardlab/member'
import { sizesOf } from './collection-sizes.js'
import type { NodeRole } from '../host/node-host.js'

/** Default 1. @throws CommandError 2 BadValue */
export function scaleOf(value: RawValue | undefined): number {
  if (value === undefined) return 1
  if (value.isNumber()) {
    const scale = Math.trunc(value.asNumber())
    if (!(scale >= 1)) throw new CommandError('BadValue', 'scale has to be >= 1')
    return Math.min(scale, 0x7fff_ffff)
  }
  if (!value.isNullish() && value.isTruthy()) throw new CommandError('BadValue', 'scale has to be a number >= 1')
  return 1
}

export function indexBytes(collection: Collection): number {
  return collection.indexes().reduce((sum, index) => sum + index.sizeBytes, 0)
}

export interface StorageStatsHost {
  readonly behaviours: Behaviours
  readonly role: Pick<NodeRole, 'orphanCount' | 'sizesOf'>
}

/** The fields of a collection that does not exist are zero. */
export function writeStorageStats(
  writer: DocumentWriter,
  collection: Collection | undefined,
  { behaviours, role }: StorageStatsHost,
  scale: number,
): DocumentWriter {
  const { orphansAreCounted, statisticsHaveTotals } = behaviours
  const scaled = (bytes: number) => Math.floor(bytes / scale)
  const number = (name: string, value: number) => writer.integer(name, value)
  if (collection === undefined) return writeEmptyStorageStats(writer, behaviours, scale)
  const { capped } = collection
  const { count, dataSizeBytes } = sizesOf({ role }, collection)
  number('size', scaled(dataSizeBytes))
  number('count', count)
  if (count > 0) writer.int32('avgObjSize', Math.floor(dataSizeBytes / count))
  if (orphansAreCounted) number('numOrphanDocs', role.orphanCount?.(collection) ?? 0)
  number('storageSize', scaled(dataSizeBytes))
  if (statisticsHaveTotals) number('freeStorageSize', 0)
  writer.bool('capped', capped !== null)
  if (capped !== null) {
    number('max', capped.documents ?? 0x7fff_ffff)
    number('maxSize', scaled(capped.sizeBytes))
  }
  const indexes = collection.indexes()
  writer.int32('nindexes', indexes.length).startDocument('indexDetails')
  for (const { name } of indexes)
    writer.startDocument(name).startDocument('metadata').int32('formatVersion', 8).end().end()
  writer.end()
  if (statisticsHaveTotals) writer.startArray('indexBuilds').end()
  const total = indexBytes(collection)
  number('totalIndexSize', scaled(total))
  if (statisticsHaveTotals) number('totalSize', scaled(dataSizeBytes + total))
  writer.startDocument('indexSizes')
  for (const { name, sizeBytes } of indexes) number(name, scaled(sizeBytes))
  writer.end()
  return statisticsHaveTotals ? writer.int32('scaleFactor', scale) : writer
}
