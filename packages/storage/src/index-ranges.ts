/**
 * From intervals on the fields of an index to ranges of its keys. Leading fields that are points multiply out; the
 * first field that is not ends each range, and what follows is left to the filter.
 */
import { compareValues, encodeKeyString, keyStringUpperBound, nullValue, type RawValue } from '@shardlab/bson'
import { isPoint, type Interval, type KeyBounds, type KeyPattern } from '@shardlab/query'

/** Keys from `from` on and below `to`; absent is open. */
export interface ScanRange {
  readonly from: string | undefined
  readonly to: string | undefined
}

/** Beyond this many ranges further fields are no longer multiplied in. */
const maxRanges = 4000

/** Missing fields are indexed as null. */
export function containsNull({ low, lowInclusive, high, highInclusive }: Interval): boolean {
  const fromLow = compareValues(low, nullValue)
  const toHigh = compareValues(nullValue, high)
  return (fromLow < 0 || (fromLow === 0 && lowInclusive)) && (toHigh < 0 || (toHigh === 0 && highInclusive))
}

/** Disjoint ranges in the order of the index; none when the bounds contradict themselves. */
export function rangesOf(bounds: KeyBounds, pattern: KeyPattern): ScanRange[] {
  const descending = pattern.map(({ direction }) => direction === -1)
  if (bounds.fields.some(({ intervals }) => intervals.length === 0)) return []
  const ranges: ScanRange[] = []
  let prefixes: RawValue[][] = [[]]
  for (let i = 0; i < pattern.length && prefixes.length > 0; i++) {
    const { intervals } = bounds.fields[i]!
    const isLast = i === pattern.length - 1 || prefixes.length * intervals.length > maxRanges
    const longer: RawValue[][] = []
    for (const prefix of prefixes) {
      for (const interval of intervals) {
        if (!isLast && isPoint(interval)) longer.push([...prefix, interval.low])
        else ranges.push(rangeUnder(prefix, interval, descending))
      }
    }
    prefixes = longer
  }
  return ranges.sort((a, b) => ((a.from ?? '') < (b.from ?? '') ? -1 : (a.from ?? '') > (b.from ?? '') ? 1 : 0))
}

function rangeUnder(prefix: readonly RawValue[], interval: Interval, descending: readonly boolean[]): ScanRange {
  const key = (value: RawValue): string => encodeKeyString([...prefix, value], descending)
  const isReversed = descending[prefix.length]!
  const [first, firstInclusive] = isReversed ? [interval.high, interval.highInclusive] : [interval.low, interval.lowInclusive]
  const [last, lastInclusive] = isReversed ? [interval.low, interval.lowInclusive] : [interval.high, interval.highInclusive]
  const low = key(first)
  const high = key(last)
  return { from: firstInclusive ? low : keyStringUpperBound(low), to: lastInclusive ? keyStringUpperBound(high) : high }
}
