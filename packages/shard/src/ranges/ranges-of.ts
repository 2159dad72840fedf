import type { StorageNode } from '@shardlab/node'
import type { Collection } from '@shardlab/storage'
import { partsOf } from '../shard-parts.js'
import { StoredRanges, type CollectionRanges } from './collection-ranges.js'
import { MeasuredRanges } from './measured/measured-ranges.js'

/** What there is to ask of a shard's collection. */
export function rangesOf(node: StorageNode, collection: Collection): CollectionRanges {
  const measured = partsOf(node).measured.of(collection)
  return measured === undefined ? new StoredRanges(node, collection) : new MeasuredRanges(node, collection, measured)
}
