/**
 * A scan is one range of KeyStrings if leading fields are points, the next field is one interval
 * and the rest is unbounded. Otherwise a checker decides for each key whether it is within the
 * bounds and where to seek next. Server: index_bounds_builder.cpp (isSingleInterval),
 * index_bounds.cpp (IndexBoundsChecker).
 */
import { encodeKeyString, keyStringFieldEnd, keyStringUpperBound, type RawValue } from '@shardlab/bson'
import { isEverything, isPoint, type Interval, type KeyPattern } from '@shardlab/query'
import type { IndexScan } from '../plans/plan-stage.js'

/** At or above `from` and below `to`; undefined: unbounded. */
export interface KeyStringRange {
  readonly from: string | undefined
  readonly to: string | undefined
}

/** @returns null: the scan needs a {@link BoundsChecker} */
export function singleRangeOf({ entry: { pattern }, bounds, between }: IndexScan): KeyStringRange | null {
  const descending = pattern.map(({ direction }) => direction === -1)
  if (between !== null)
    return { from: encodeKeyString(between.min, descending), to: encodeKeyString(between.max, descending) }
  const { fields } = bounds
  const prefix: RawValue[] = []
  let at = 0
  for (; at < fields.length; at++) {
    const { intervals } = fields[at]!
    if (intervals.length !== 1 || !isPoint(intervals[0]!)) break
    prefix.push(intervals[0]!.low)
  }
  if (at === fields.length) {
    const key = encodeKeyString(prefix, descending)
    return { from: key, to: keyStringUpperBound(key) }
  }
  const { intervals } = fields[at]!
  if (intervals.length !== 1) return null
  for (let i = at + 1; i < fields.length; i++) if (!isEverything(fields[i]!.intervals)) return null
  return rangeUnder(prefix, intervals[0]!, descending)
}

function rangeUnder(prefix: readonly RawValue[], interval: Interval, descending: readonly boolean[]): KeyStringRange {
  const reversed = descending[prefix.length]!
  const low = encodeKeyString([...prefix, reversed ? interval.high : interval.low], descending)
  const high = encodeKeyString([...prefix, reversed ? interval.low : interval.high], descending)
  const lowInclusive = reversed ? interval.highInclusive : interval.lowInclusive
  const highInclusive = reversed ? interval.lowInclusive : interval.highInclusive
  return { from: lowInclusive ? low : keyStringUpperBound(low), to: highInclusive ? keyStringUpperBound(high) : high }
}

/** In the order of the keys. */
interface FieldInterval {
  readonly start: string
  readonly startInclusive: boolean
  readonly end: string
  readonly endInclusive: boolean
}

/** `DONE`: the key is after all bounds. `MUST_ADVANCE`: seek to the next key. */
export type KeyCheck = 'VALID' | 'DONE' | 'MUST_ADVANCE'

export class BoundsChecker {
  readonly #fields: readonly (readonly FieldInterval[])[]
  readonly #descending: readonly boolean[]
  readonly #reverse: boolean
  /** After MUST_ADVANCE, a forward scan continues at this key, a backward one below it. */
  seekTo = ''
  readonly #ends: number[]

  constructor({ entry: { pattern }, bounds, reverse }: IndexScan) {
    this.#descending = pattern.map(({ direction }) => direction === -1)
    this.#reverse = reverse
    this.#fields = bounds.fields.map(({ intervals }, i) => fieldIntervals(intervals, pattern, i))
    this.#ends = new Array<number>(pattern.length).fill(0)
  }

  /**
   * Sets `seekTo` to the start of the bounds.
   * @returns false: the bounds are empty
   */
  start(): boolean {
    if (this.#fields.some((intervals) => intervals.length === 0)) return false
    this.seekTo = this.#position('', 0, this.#reverse ? this.#fields[0]!.length - 1 : 0)
    return true
  }

  check(key: string): KeyCheck {
    let begin = 0
    for (let i = 0; i < this.#fields.length; i++) {
      const end = keyStringFieldEnd(key, begin, this.#descending[i])
      const value = key.slice(begin, end)
      const intervals = this.#fields[i]!
      const next = this.#reverse ? lastStartingAt(intervals, value) : firstEndingAt(intervals, value)
      const interval = intervals[next]
      if (interval === undefined) return this.#advancePast(key, i, begin)
      if (!holds(interval, value)) {
        this.seekTo = this.#position(key.slice(0, begin), i, next)
        return 'MUST_ADVANCE'
      }
      this.#ends[i] = end
      begin = end
    }
    return 'VALID'
  }

  /** Called when no further key can have these values of the fields before `field`. */
  #advancePast(key: string, field: number, prefixEnd: number): KeyCheck {
    let begin = 0
    let canAdvance = false
    for (let i = 0; i < field && !canAdvance; i++) {
      const last = this.#reverse ? this.#fields[i]![0]! : this.#fields[i]!.at(-1)!
      const value = key.slice(begin, this.#ends[i])
      canAdvance = value !== (this.#reverse ? last.start : last.end)
      begin = this.#ends[i]!
    }
    if (!canAdvance) return 'DONE'
    const prefix = key.slice(0, prefixEnd)
    this.seekTo = this.#reverse ? prefix : keyStringUpperBound(prefix)
    return 'MUST_ADVANCE'
  }

  /**
   * The first key, in the direction of the scan, with this prefix and field `i` in or after the
   * interval.
   */
  #position(prefix: string, field: number, interval: number): string {
    let position = prefix
    for (let i = field; i < this.#fields.length; i++) {
      const intervals = this.#fields[i]!
      const { start, startInclusive, end, endInclusive } =
        intervals[i === field ? interval : this.#reverse ? intervals.length - 1 : 0]!
      position += this.#reverse ? end : start
      if (this.#reverse ? !endInclusive : !startInclusive)
        return this.#reverse ? position : keyStringUpperBound(position)
    }
    return this.#reverse ? keyStringUpperBound(position) : position
  }
}

function fieldIntervals(intervals: readonly Interval[], pattern: KeyPattern, field: number): FieldInterval[] {
  const descending = pattern[field]!.direction === -1
  const key = (value: RawValue): string => encodeKeyString([value], [descending])
  const inOrder = intervals.map(({ low, lowInclusive, high, highInclusive }) =>
    descending
      ? { start: key(high), startInclusive: highInclusive, end: key(low), endInclusive: lowInclusive }
      : { start: key(low), startInclusive: lowInclusive, end: key(high), endInclusive: highInclusive },
  )
  return descending ? inOrder.reverse() : inOrder
}

function holds({ start, startInclusive, end, endInclusive }: FieldInterval, value: string): boolean {
  return (value > start || (startInclusive && value === start)) && (value < end || (endInclusive && value === end))
}

function firstEndingAt(intervals: readonly FieldInterval[], value: string): number {
  let low = 0
  let high = intervals.length
  while (low < high) {
    const middle = (low + high) >> 1
    const { end, endInclusive } = intervals[middle]!
    if (end < value || (end === value && !endInclusive)) low = middle + 1
    else high = middle
  }
  return low
}

/** Index of the last interval that does not start after the value; -1: all do. */
function lastStartingAt(intervals: readonly FieldInterval[], value: string): number {
  let low = 0
  let high = intervals.length
  while (low < high) {
    const middle = (low + high) >> 1
    const { start, startInclusive } = intervals[middle]!
    if (start < value || (start === value && startInclusive)) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** As {@link singleRangeOf}, which must not be null, but as values in the order of the index. */
export function singlePointsOf({ entry: { pattern }, bounds }: IndexScan): {
  readonly start: readonly RawValue[]
  readonly startInclusive: boolean
  readonly end: readonly RawValue[]
  readonly endInclusive: boolean
} {
  const ends = bounds.fields.map(({ intervals }, i) => {
    const { low, lowInclusive, high, highInclusive } = intervals[0]!
    return pattern[i]!.direction === -1
      ? { start: high, startInclusive: highInclusive, end: low, endInclusive: lowInclusive }
      : { start: low, startInclusive: lowInclusive, end: high, endInclusive: highInclusive }
  })
  return {
    start: ends.map(({ start }) => start),
    startInclusive: ends.every(({ startInclusive }) => startInclusive),
    end: ends.map(({ end }) => end),
    endInclusive: ends.every(({ endInclusive }) => endInclusive),
  }
}
