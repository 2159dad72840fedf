/** Merging by the `$sortKey` that shards add to the documents of a sorted find. */
import { elementsOf, findField } from '@shardlab/bson'
import { sortKeyOf, sortKeyOfValues, type SortPattern } from '@shardlab/query'
import type { MergeOrder } from './results-merger.js'

/** Field in which a shard sends the sort key, and the length of its header: type, name, NUL. */
export const sortKeyField = '$sortKey'
const headerBytes = sortKeyField.length + 2

/** The order of documents that carry `$sortKey`, an array of one value for each part of the sort. */
export function sortKeyOrder(sort: SortPattern): MergeOrder {
  return {
    keyOf(document) {
      const key = findField(document, sortKeyField)
      if (key === undefined) throw new Error('a shard sent a document of a sorted find without its sort key')
      return sortKeyOfValues(elementsOf(key), sort)
    },
    strip(document) {
      const key = findField(document, sortKeyField)!
      const from = key.start - headerBytes
      const stripped = Buffer.allocUnsafe(document.length - (key.end - from))
      stripped.set(document.subarray(0, from), 0)
      stripped.set(document.subarray(key.end), from)
      stripped.writeInt32LE(stripped.length, 0)
      return stripped
    },
  }
}

/** The order of documents that still hold the fields they are sorted by. */
export function documentOrder(sort: SortPattern): MergeOrder {
  return { keyOf: (document) => sortKeyOf(document, sort), strip: (document) => document }
}
