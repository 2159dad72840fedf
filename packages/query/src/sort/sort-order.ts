/** Without a collation the keys are KeyStrings, with one they are the values. */
import type { RawValue, StringComparator } from '@shardlab/bson'
import { compareTuples, lowestTuple, sortKeyOf, sortKeyOfValues, type SortPattern } from './sort-pattern.js'

/** Comparable only by the order that created it. */
export type SortKey = string | readonly (RawValue | undefined)[]

export interface SortOrder {
  /** @throws CommandError BadValue (2) for parallel arrays */
  keyOf(document: Uint8Array): SortKey
  /** For values such as a `$sortKey` array from a shard. */
  keyOfValues(values: readonly (RawValue | undefined)[]): SortKey
  compare(a: SortKey, b: SortKey): number
}

/** @param strings the collation's comparison; absent: by bytes */
export function sortOrder(sort: SortPattern, strings?: StringComparator): SortOrder {
  if (strings === undefined) {
    return {
      keyOf: (document) => sortKeyOf(document, sort),
      keyOfValues: (values) => sortKeyOfValues(values, sort),
      compare: (a, b) => (a < b ? -1 : a > b ? 1 : 0),
    }
  }
  return {
    keyOf: (document) => lowestTuple(document, sort, strings),
    keyOfValues: (values) => values,
    compare: (a, b) =>
      compareTuples(
        a as readonly (RawValue | undefined)[],
        b as readonly (RawValue | undefined)[],
        sort.descending,
        strings,
      ),
  }
}
