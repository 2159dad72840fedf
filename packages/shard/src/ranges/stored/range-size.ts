/** Server: dataSize of a range, as requested by balancer_commands_scheduler_impl.cpp. */
import { CommandError } from '@shardlab/bson'
import { ShardKeyPattern } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import type { RangeSizeAnswer, RangeSizeRequest } from '../collection-ranges.js'
import { RangeCursor, rangeIndex } from './range-cursor.js'

export function rangeSizeOf(collection: Collection, request: RangeSizeRequest): RangeSizeAnswer {
  const { keyPattern, min, max, estimate, sizeMaxBytes } = request
  if (collection.count === 0) return { sizeBytes: 0, isLarger: false }
  const index = rangeIndex(collection, ShardKeyPattern.parse(keyPattern, { compoundHashed: true }))
  if (index === undefined) throw new CommandError('OperationFailed', "Couldn't find valid index containing key pattern")
  const averageBytes = Math.floor(collection.dataSizeBytes / collection.count)
  const cursor = new RangeCursor(index, { min, max })
  let sizeBytes = 0
  for (let recordId = cursor.next(); recordId >= 0; recordId = cursor.next()) {
    sizeBytes += estimate ? averageBytes : collection.get(recordId)!.document.length
    if (sizeMaxBytes !== null && sizeBytes > sizeMaxBytes) return { sizeBytes, isLarger: true }
  }
  return { sizeBytes, isLarger: false }
}
