import { CommandError, FieldIterator } from '@shardlab/bson'
import type { CollectionSizes, KeyBounds } from '@shardlab/node'
import type { ShardKeyPattern } from '@shardlab/sharding'
import { intervalOf } from './interval.js'
import type { RangeSizes } from './range-sizes.js'

/**
 * @param bounds null: the whole collection
 * @throws CommandError 115 CommandNotSupported for bounds on other fields than the shard key's
 */
export function measuredSizesOf(
  ns: string,
  sizes: RangeSizes,
  bounds: KeyBounds | null,
  shardKey: ShardKeyPattern | null,
): CollectionSizes {
  if (bounds === null) return { count: Math.round(sizes.documents), dataSizeBytes: Math.round(sizes.bytes) }
  const paths = shardKey?.paths ?? []
  for (const bound of [bounds.min, bounds.max])
    if (!fieldNames(bound).every((name, i) => name === paths[i]))
      throw new CommandError('CommandNotSupported', `${ns} is measured: only ranges of its shard key have sizes`)
  const { documents, bytes } = sizes.sizeOf(intervalOf(bounds))
  return { count: Math.round(documents), dataSizeBytes: Math.round(bytes) }
}

function fieldNames(document: Uint8Array): string[] {
  const names: string[] = []
  for (const it = new FieldIterator(document); it.next();) names.push(it.name())
  return names
}
