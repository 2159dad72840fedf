/** Keys of the imaginary documents of an interval, by number, for split points. */
import type { SizedRange } from '@shardlab/actor'
import { comparePositions, type Position } from './position.js'
import { documentsThrough, keyOfDocument } from './sized-range.js'

const none = Number.NEGATIVE_INFINITY

export class MeasuredKeys {
  readonly #ranges: readonly SizedRange[]
  /** Number of documents before each range. */
  readonly #before: readonly number[]
  readonly count: number

  /** @param fields of the key: documents that are equal in these have one key */
  constructor(ranges: readonly SizedRange[], fields: number) {
    this.#ranges = fields >= 3 ? ranges : ranges.map((range) => keyOnly(range, fields))
    let count = 0
    this.#before = ranges.map(({ documents }) => (count += documents) - documents)
    this.count = count
  }

  at(n: number): Position {
    const i = this.#rangeOf(n)
    return keyOfDocument(this.#ranges[i]!, n - this.#before[i]!)
  }

  /** The first later document with another key; {@link count}: none. */
  nextKey(n: number): number {
    const key = this.at(n)
    let next = n
    // A range of many keys may begin with the key of the single-key range before it.
    do {
      const i = this.#rangeOf(next)
      next = this.#before[i]! + documentsThrough(this.#ranges[i]!, next - this.#before[i]!)
    } while (next < this.count && comparePositions(this.at(next), key) === 0)
    return next
  }

  /** The last earlier document with another key; -1: none. */
  previousKey(n: number): number {
    const key = this.at(n)
    let [low, high] = [0, n]
    // Finds the first document with this key.
    while (low < high) {
      const middle = (low + high) >>> 1
      if (comparePositions(this.at(middle), key) < 0) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  get hasOneKey(): boolean {
    return this.count === 0 || comparePositions(this.at(0), this.at(this.count - 1)) === 0
  }

  #rangeOf(n: number): number {
    let [low, high] = [0, this.#before.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (this.#before[middle]! <= n) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** Without positions beyond the fields of the key. */
function keyOnly(range: SizedRange, fields: number): SizedRange {
  return fields === 1 ? { ...range, y0: none, y1: none, z0: none, z1: none } : { ...range, z0: none, z1: none }
}

/**
 * Each split point is the first document with its key after at least `first` documents from `from`,
 * then after `others` documents from the previous one.
 */
export function cutsOf(
  keys: MeasuredKeys,
  { from = 0, first, others, most }: { from?: number; first: number; others: number; most: number },
): number[] {
  const cuts: number[] = []
  let last = keys.at(from)
  for (let next = from + first; next < keys.count && cuts.length < most;) {
    const n = comparePositions(keys.at(next), last) === 0 ? keys.nextKey(next) : next
    if (n >= keys.count) break
    cuts.push(n)
    last = keys.at(n)
    next = n + others
  }
  return cuts
}
