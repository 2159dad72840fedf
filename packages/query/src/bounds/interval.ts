/** Sets of values are ascending, disjoint intervals in canonical order. Server: index_bounds.h. */
import { compareValues, maxKeyValue, minKeyValue, type RawValue } from '@shardlab/bson'

export interface Interval {
  readonly low: RawValue
  readonly lowInclusive: boolean
  readonly high: RawValue
  readonly highInclusive: boolean
}

export const fullInterval: Interval = { low: minKeyValue, lowInclusive: true, high: maxKeyValue, highInclusive: true }
export const everything: readonly Interval[] = [fullInterval]

export function point(value: RawValue): Interval {
  return { low: value, lowInclusive: true, high: value, highInclusive: true }
}

export function isPoint(interval: Interval): boolean {
  return interval.lowInclusive && interval.highInclusive && compareValues(interval.low, interval.high) === 0
}

/** Whether the only interval is MinKey to MaxKey. */
export function isEverything(intervals: readonly Interval[]): boolean {
  const only = intervals[0]
  return (
    intervals.length === 1 &&
    only !== undefined &&
    compareValues(only.low, minKeyValue) === 0 &&
    compareValues(only.high, maxKeyValue) === 0 &&
    only.lowInclusive &&
    only.highInclusive
  )
}

function isEmpty(interval: Interval): boolean {
  const order = compareValues(interval.low, interval.high)
  return order > 0 || (order === 0 && !(interval.lowInclusive && interval.highInclusive))
}

function compareLows(a: Interval, b: Interval): number {
  return compareValues(a.low, b.low) || Number(b.lowInclusive) - Number(a.lowInclusive)
}

/** Joins intervals that overlap or touch, and drops empty ones. The result is ascending. */
export function union(intervals: readonly Interval[]): Interval[] {
  const sorted = intervals.filter((interval) => !isEmpty(interval)).sort(compareLows)
  const joined: Interval[] = []
  for (const interval of sorted) {
    const last = joined.at(-1)
    const order = last === undefined ? -1 : compareValues(last.high, interval.low)
    if (last === undefined || order < 0 || (order === 0 && !last.highInclusive && !interval.lowInclusive)) {
      joined.push(interval)
      continue
    }
    const reach = compareValues(last.high, interval.high)
    if (reach < 0) joined[joined.length - 1] = { ...last, high: interval.high, highInclusive: interval.highInclusive }
    else if (reach === 0 && interval.highInclusive && !last.highInclusive)
      joined[joined.length - 1] = { ...last, highInclusive: true }
  }
  return joined
}

/** Both lists must be ascending and disjoint. */
export function intersection(a: readonly Interval[], b: readonly Interval[]): Interval[] {
  const both: Interval[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const left = a[i]!
    const right = b[j]!
    const low = compareLows(left, right) >= 0 ? left : right
    const ends = compareValues(left.high, right.high) || Number(left.highInclusive) - Number(right.highInclusive)
    const high = ends <= 0 ? left : right
    const common = { low: low.low, lowInclusive: low.lowInclusive, high: high.high, highInclusive: high.highInclusive }
    if (!isEmpty(common)) both.push(common)
    if (ends <= 0) i++
    if (ends >= 0) j++
  }
  return both
}

export function complement(intervals: readonly Interval[]): Interval[] {
  const gaps: Interval[] = []
  let low: RawValue = minKeyValue
  let lowInclusive = true
  for (const interval of intervals) {
    gaps.push({ low, lowInclusive, high: interval.low, highInclusive: !interval.lowInclusive })
    low = interval.high
    lowInclusive = !interval.highInclusive
  }
  gaps.push({ low, lowInclusive, high: maxKeyValue, highInclusive: true })
  return gaps.filter((interval) => !isEmpty(interval))
}
