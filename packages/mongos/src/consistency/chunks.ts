/**
 * Checks that the chunks of a collection cover its key space without gaps or overlaps. Server:
 * metadata_consistency_util.cpp, checkChunksConsistency.
 */
import { BsonType, CommandError, compareDocuments, findField, type RawValue } from '@shardlab/bson'
import type { ShardKeyPattern } from '@shardlab/sharding'
import { inconsistency } from './inconsistency.js'

export interface CatalogCollection {
  readonly ns: string
  readonly uuid: RawValue
  readonly shardKey: ShardKeyPattern
}

/**
 * @param chunks config.chunks documents, ordered by `min`
 * @throws CommandError 4 NoSuchKey, 14 TypeMismatch for an invalid chunk document
 */
export function chunkInconsistencies(
  { ns, uuid, shardKey }: CatalogCollection,
  chunks: readonly Uint8Array[],
): Uint8Array[] {
  const first = chunks[0]
  if (first === undefined)
    return [
      inconsistency('MissingRoutingTable', 'There is a sharded collection without routing table', ns, (details) =>
        details.value('collectionUUID', uuid),
      ),
    ]
  const found: Uint8Array[] = []
  chunks.forEach((chunk, i) => {
    // The server compares each chunk with the one before it, so it never checks the first one
    // alone.
    if (i === 0) return
    if (!isShardKey(shardKey, bound(chunk, 'min')) || !isShardKey(shardKey, bound(chunk, 'max')))
      found.push(
        inconsistency('CorruptedChunkShardKey', 'Found chunk with a shard key pattern violation', ns, (details) =>
          details.value('collectionUUID', uuid).document('chunk', chunk).document('shardKeyPattern', shardKey.document),
        ),
      )
    const before = chunks[i - 1]!
    const order = compareDocuments(bound(before, 'max'), bound(chunk, 'min'))
    if (order === 0) return
    const [type, description] =
      order < 0
        ? ['RoutingTableRangeGap', 'Found a gap between two consecutive chunks']
        : ['RoutingTableRangeOverlap', 'Found two overlapping consecutive chunks']
    found.push(
      inconsistency(type, description, ns, (details) =>
        details.value('collectionUUID', uuid).document('chunkA', before).document('chunkB', chunk),
      ),
    )
  })
  const min = bound(first, 'min')
  if (compareDocuments(min, shardKey.globalMin) !== 0)
    found.push(
      inconsistency(
        'RoutingTableMissingMinKey',
        'Routing table has a gap because first chunk does not start from MinKey',
        ns,
        (details) =>
          details.value('collectionUUID', uuid).document('minKeyObj', min).document('globalMin', shardKey.globalMin),
      ),
    )
  const max = bound(chunks.at(-1)!, 'max')
  if (compareDocuments(max, shardKey.globalMax) !== 0)
    found.push(
      inconsistency(
        'RoutingTableMissingMaxKey',
        'Routing table has a gap because last chunk boundary does not reach MaxKey',
        ns,
        (details) =>
          details.value('collectionUUID', uuid).document('maxKeyObj', max).document('globalMax', shardKey.globalMax),
      ),
    )
  return found
}

export function isShardKey(shardKey: ShardKeyPattern, key: Uint8Array): boolean {
  return shardKey.keyStringOfBound(key) !== undefined
}

/** @throws CommandError 4 NoSuchKey, 14 TypeMismatch */
export function bound(document: Uint8Array, name: 'min' | 'max'): Uint8Array {
  const value = findField(document, name)
  if (value === undefined) throw new CommandError('NoSuchKey', `Missing expected field "${name}"`)
  if (value.type !== BsonType.object)
    throw new CommandError('TypeMismatch', `"${name}" had the wrong type. Expected object`)
  return value.slice()
}
