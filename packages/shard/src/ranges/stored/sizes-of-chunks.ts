import { CommandError } from '@shardlab/bson'
import { addKeys, type NodeHost, type SteppedWork } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import type { ChunkEntry, ShardKeyPattern } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import type { SizedChunk } from '../collection-ranges.js'
import { rangeIndex } from './range-cursor.js'

/** @throws CommandError 27 IndexNotFound */
export function* sizesOfChunks(
  node: NodeHost,
  live: Collection,
  chunks: readonly ChunkEntry[],
  shardKey: ShardKeyPattern,
): SteppedWork<SizedChunk[]> {
  yield* addKeys(node, live)
  const collection = live.snapshot()
  const index = rangeIndex(collection, shardKey)
  if (index === undefined)
    throw new CommandError('IndexNotFound', `couldn't find index over shard key ${formatDocument(shardKey.document)}`)
  const sized: SizedChunk[] = []
  for (const { min, max } of chunks) {
    const cursor = index.scanKeys(min, max, false)
    let documents = 0
    let bytes = 0
    for (let recordId = cursor.next(); recordId >= 0; recordId = cursor.next()) {
      documents++
      bytes += collection.get(recordId)!.document.length
      yield
    }
    if (documents > 0) sized.push({ key: min, end: max, documents, bytes })
    yield
  }
  return sized
}
