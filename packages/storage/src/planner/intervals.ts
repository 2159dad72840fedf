import { compareValues, nullValue } from '@shardlab/bson'
import type { Interval } from '@shardlab/query'

/** Missing fields are indexed as null. */
export function containsNull({ low, lowInclusive, high, highInclusive }: Interval): boolean {
  const fromLow = compareValues(low, nullValue)
  const toHigh = compareValues(nullValue, high)
  return (fromLow < 0 || (fromLow === 0 && lowInclusive)) && (toHigh < 0 || (toHigh === 0 && highInclusive))
}
