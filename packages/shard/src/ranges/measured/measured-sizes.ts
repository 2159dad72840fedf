/** What a collection that has sizes of ranges instead of documents answers to statistics. */
import { CommandError, FieldIterator } from '@shardlab/bson'
import type { CollectionSizes, KeyBounds } from '@shardlab/node'
import type { Collection } from '@shardlab/storage'
import type { ShardParts } from '../../shard-parts.js'
import { intervalOf } from './interval.js'

/**
 * @param bounds null: all of it
 * @returns null for a collection that has documents
 * @throws CommandError 115 CommandNotSupported: by other fields than the shard key's nothing is known
 */
export function measuredSizesOf(
  { measured, state }: ShardParts,
  collection: Collection,
  bounds: KeyBounds | null,
): CollectionSizes | null {
  const found = measured.of(collection)
  if (found === undefined) return null
  if (bounds === null) return { count: Math.round(found.sizes.documents), dataSizeBytes: Math.round(found.sizes.bytes) }
  const paths = state.collection(collection.ns)?.shardKey.paths ?? []
  for (const bound of [bounds.min, bounds.max])
    if (!fieldNames(bound).every((name, i) => name === paths[i]))
      throw new CommandError(
        'CommandNotSupported',
        `${collection.ns} is measured: only ranges of its shard key have sizes`,
      )
  const { documents, bytes } = found.sizes.sizeOf(intervalOf(bounds))
  return { count: Math.round(documents), dataSizeBytes: Math.round(bytes) }
}

function fieldNames(document: Uint8Array): string[] {
  const names: string[] = []
  for (const it = new FieldIterator(document); it.next();) names.push(it.name())
  return names
}
