/** Sizes of a collection, for collStats and $collStats. Server: storage_stats.cpp; manual: reference/operator/aggregation/collStats. */
import { BsonType, CommandError, DocumentWriter, type RawValue } from '@shardlab/bson'
import type { Collection } from '@shardlab/storage'
import { writeNumber } from './write-number.js'

/**
 * The `scale` argument; 1 when there is none.
 * @throws CommandError 2 BadValue, as a mongod
 */
export function scaleOf(value: RawValue | undefined): number {
  if (value === undefined) return 1
  if (value.isNumber()) {
    const scale = Math.trunc(value.asNumber())
    if (!(scale >= 1)) throw new CommandError('BadValue', 'scale has to be >= 1')
    return Math.min(scale, 0x7fff_ffff)
  }
  if (value.type !== BsonType.null && value.isTruthy()) throw new CommandError('BadValue', 'scale has to be a number >= 1')
  return 1
}

export interface StorageStatsOptions {
  readonly scale: number
  /** Documents of ranges that the shard has given away and not deleted yet. */
  readonly orphanCount: number
}

/** What indexes of a collection take, in bytes. */
export function indexBytes(collection: Collection): number {
  return collection.indexes().reduce((sum, index) => sum + index.sizeBytes, 0)
}

/** Appends the fields; those of a collection that does not exist are zeros. */
export function writeStorageStats(
  writer: DocumentWriter,
  collection: Collection | undefined,
  { scale, orphanCount }: StorageStatsOptions,
): DocumentWriter {
  const scaled = (bytes: number) => Math.floor(bytes / scale)
  const number = (name: string, value: number) => writeNumber(writer, name, value)
  if (collection === undefined) {
    for (const name of ['size', 'count', 'numOrphanDocs', 'storageSize', 'totalSize', 'nindexes', 'totalIndexSize']) writer.int32(name, 0)
    return writer.startDocument('indexDetails').end().startDocument('indexSizes').end().int32('scaleFactor', scale)
  }
  const { count, dataSizeBytes, capped } = collection
  number('size', scaled(dataSizeBytes))
  number('count', count)
  if (count > 0) writer.int32('avgObjSize', Math.floor(dataSizeBytes / count))
  number('numOrphanDocs', orphanCount)
  number('storageSize', scaled(dataSizeBytes))
  number('freeStorageSize', 0)
  writer.bool('capped', capped !== null)
  if (capped !== null) {
    number('max', capped.documents ?? 0x7fff_ffff)
    number('maxSize', scaled(capped.sizeBytes))
  }
  const indexes = collection.indexes()
  writer.int32('nindexes', indexes.length).startDocument('indexDetails')
  for (const { name } of indexes) writer.startDocument(name).startDocument('metadata').int32('formatVersion', 8).end().end()
  writer.end().startArray('indexBuilds').end()
  const total = indexBytes(collection)
  number('totalIndexSize', scaled(total))
  number('totalSize', scaled(dataSizeBytes + total))
  writer.startDocument('indexSizes')
  for (const { name, sizeBytes } of indexes) number(name, scaled(sizeBytes))
  return writer.end().int32('scaleFactor', scale)
}
