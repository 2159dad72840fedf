/**
 * Sorted streams are merged by the `$sortKey` that shards add to the documents of a sorted find, or
 * by the documents themselves.
 */
import { compareValues, elementsOf, findField, nullValue, type RawValue, type StringComparator } from '@shardlab/bson'
import { sortKeyOf, sortKeyOfValues, sortKeyValues, type SortPattern } from '@shardlab/query'
import type { MergeOrder } from './input-merger.js'

/** A router requests the sort key in this field, to merge the results of shards. */
export const sortKeyField = '$sortKey'
const headerBytes = sortKeyField.length + 2

/**
 * `$sortKey` is an array with one value per part of the sort.
 * @param strings comparison of the collation; absent: by bytes
 */
export function sortKeyOrder(sort: SortPattern, strings?: StringComparator): MergeOrder {
  return {
    ...keysOf(sort, strings, {
      string: (document) => sortKeyOfValues(shardsSortKey(document), sort),
      values: shardsSortKey,
    }),
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

/** The documents contain the fields of the sort. */
export function documentOrder(sort: SortPattern, strings?: StringComparator): MergeOrder {
  return {
    ...keysOf(sort, strings, {
      string: (document) => sortKeyOf(document, sort),
      values: (document) => sortKeyValues(document, sort, strings),
    }),
    strip: (document) => document,
  }
}

type Values = readonly (RawValue | undefined)[]

/** Keys are KeyStrings, which compare fastest; a collation has no KeyStrings. */
function keysOf(
  { descending }: SortPattern,
  strings: StringComparator | undefined,
  keyOf: { readonly string: (document: Uint8Array) => string; readonly values: (document: Uint8Array) => Values },
): Pick<MergeOrder, 'keyOf' | 'isBefore'> {
  if (strings === undefined) return { keyOf: keyOf.string, isBefore: (a, b) => a < b }
  return { keyOf: keyOf.values, isBefore: (a, b) => compareKeys(a as Values, b as Values, descending, strings) < 0 }
}

function compareKeys(a: Values, b: Values, descending: readonly boolean[], strings: StringComparator): number {
  for (let i = 0; i < descending.length; i++) {
    const order = compareValues(a[i] ?? nullValue, b[i] ?? nullValue, strings)
    if (order !== 0) return descending[i] ? -order : order
  }
  return 0
}

function shardsSortKey(document: Uint8Array): RawValue[] {
  const key = findField(document, sortKeyField)
  if (key === undefined) throw new Error('a shard sent a document of a sorted find without its sort key')
  return elementsOf(key)
}
