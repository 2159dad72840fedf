/**
 * Disjoint ranges in key order, in blocks with sums: the cost of an operation grows with the number
 * of blocks, not of ranges.
 */
import type { SizedRange } from '@shardlab/actor'
import { noSize, type Size } from '../collection-ranges.js'
import { divided, keysOf } from './deletion.js'
import { comparePositions, type Interval, type Position } from './position.js'
import { canJoin, join, spread } from './spread.js'
import {
  cutRange,
  documentsBelow,
  endOf,
  hasOneKey,
  sizeOfSome,
  startOf,
  withEnd,
  withSize,
  withStart,
} from './sized-range.js'

const blockLengthMax = 128

interface Block {
  readonly ranges: SizedRange[]
  documents: number
  bytes: number
}

/** Before the i-th range of the b-th block. */
interface Place {
  readonly b: number
  readonly i: number
}

export class RangeSizes {
  #blocks: Block[] = []
  #documents = 0
  #bytes = 0

  get documents(): number {
    return this.#documents
  }

  get bytes(): number {
    return this.#bytes
  }

  *ranges(): IterableIterator<SizedRange> {
    for (const { ranges } of this.#blocks) yield* ranges
  }

  sizeOf({ min, max }: Interval): Size {
    const low = this.#below(min)
    const high = this.#below(max)
    return { documents: high.documents - low.documents, bytes: high.bytes - low.bytes }
  }

  /** Cut at the ends of the interval. */
  within({ min, max }: Interval): SizedRange[] {
    const found: SizedRange[] = []
    const from = this.#cut(min)
    for (let b = from.b; b < this.#blocks.length; b++) {
      const { ranges } = this.#blocks[b]!
      for (let i = b === from.b ? from.i : 0; i < ranges.length; i++) {
        const range = ranges[i]!
        const below = beginsBelow(range, max) ? partBelow(range, max) : null
        if (below === null) return found
        found.push(below)
      }
    }
    return found
  }

  /**
   * Spreads the documents evenly over their range, whatever is stored there.
   * @param grown may overlap any number of stored ranges
   */
  grow(grown: SizedRange): void {
    if (grown.documents === 0) return
    const [start, end] = [startOf(grown), endOf(grown)]
    if (!hasOneKey(grown) && this.#fill(grown, start, end)) return
    this.#cut(start)
    if (hasOneKey(grown)) return this.#growKey(grown)
    const to = this.#cut(end)
    const from = this.#find(start)
    const pieces = spread(this.#between(from, to), grown)
    const before = this.#before(from)
    if (before === undefined || !canJoin(before, pieces[0]!)) this.#replace(from, to, pieces)
    else this.#replace(this.#previous(from), to, join([before, ...pieces]))
  }

  take({ min, max }: Interval): SizedRange[] {
    this.#cut(min)
    const to = this.#cut(max)
    const from = this.#find(min)
    if (from.b === to.b && from.i === to.i) return []
    const taken = this.#between(from, to)
    this.#replace(from, to, [])
    return taken
  }

  /**
   * Deletes documents from a range, of each stored part the same share.
   * @param range with as many documents as are to be deleted
   * @returns what was deleted: less if there was less
   */
  shrink(range: SizedRange): SizedRange[] {
    const interval = keysOf(range)
    const { deleted, kept } = divided(this.take(interval), range.documents)
    const place = this.#find(interval.min)
    if (kept.length > 0) this.#replace(place, place, kept)
    return deleted
  }

  /** @param ranges taken from another instance */
  put(ranges: readonly SizedRange[]): void {
    for (const range of ranges) this.grow(range)
  }

  #below(at: Position): Size {
    const end = this.#find(at)
    let [documents, bytes] = [0, 0]
    for (let b = 0; b < end.b; b++) {
      documents += this.#blocks[b]!.documents
      bytes += this.#blocks[b]!.bytes
    }
    const ranges = this.#blocks[end.b]?.ranges ?? []
    for (let i = 0; i < end.i; i++) {
      documents += ranges[i]!.documents
      bytes += ranges[i]!.bytes
    }
    // Only the last range that begins below can extend beyond.
    const last = this.#before(end)
    if (last === undefined) return noSize
    const above = sizeAbove(last, at)
    return { documents: documents - above.documents, bytes: bytes - above.bytes }
  }

  /** False: a range is stored there. */
  #fill(grown: SizedRange, start: Position, end: Position): boolean {
    const place = this.#find(start)
    const before = this.#before(place)
    const next = this.#blocks[place.b]?.ranges[place.i]
    if (before !== undefined && comparePositions(endOf(before), start) > 0) return false
    if (next !== undefined && comparePositions(startOf(next), end) < 0) return false
    if (before !== undefined && canJoin(before, grown))
      this.#replace(this.#previous(place), place, join([before, grown]))
    else this.#replace(place, place, [grown])
    return true
  }

  #growKey(grown: SizedRange): void {
    const place = this.#find(startOf(grown))
    const known = this.#blocks[place.b]?.ranges[place.i]
    if (known === undefined || !hasOneKey(known) || comparePositions(startOf(known), startOf(grown)) !== 0) {
      this.#replace(place, place, [grown])
      return
    }
    const sum = withSize(known, { documents: known.documents + grown.documents, bytes: known.bytes + grown.bytes })
    this.#replace(place, { b: place.b, i: place.i + 1 }, [sum])
  }

  /**
   * Cuts the range at the position: all documents of a range are then on one side.
   * @returns as {@link find}
   */
  #cut(at: Position): Place {
    const place = this.#find(at)
    const last = this.#before(place)
    if (last === undefined || hasOneKey(last) || comparePositions(endOf(last), at) <= 0) return place
    const from = this.#previous(place)
    const narrowed = () => [documentsBelow(last, at) === 0 ? withStart(last, at, last) : withEnd(last, at, last)]
    this.#replace(from, { b: from.b, i: from.i + 1 }, cutRange(last, at) ?? narrowed())
    return this.#find(at)
  }

  /** The first range that begins at or after the position. */
  #find(at: Position): Place {
    const blocks = this.#blocks
    let [low, high] = [0, blocks.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (beginsBelow(blocks[middle]!.ranges[0]!, at)) low = middle + 1
      else high = middle
    }
    if (low === 0) return { b: 0, i: 0 }
    const { ranges } = blocks[low - 1]!
    let [first, end] = [1, ranges.length]
    while (first < end) {
      const middle = (first + end) >>> 1
      if (beginsBelow(ranges[middle]!, at)) first = middle + 1
      else end = middle
    }
    return first === ranges.length ? { b: low, i: 0 } : { b: low - 1, i: first }
  }

  #before({ b, i }: Place): SizedRange | undefined {
    return i > 0 ? this.#blocks[b]!.ranges[i - 1] : this.#blocks[b - 1]?.ranges.at(-1)
  }

  /** False: the block would be too long, or empty. */
  #replaceIn(block: Block | undefined, from: number, to: number, ranges: readonly SizedRange[]): boolean {
    if (block === undefined) return false
    const length = block.ranges.length - (to - from) + ranges.length
    if (length === 0 || length > blockLengthMax) return false
    let [documents, bytes] = [0, 0]
    for (const range of ranges) {
      documents += range.documents
      bytes += range.bytes
    }
    for (let i = from; i < to; i++) {
      documents -= block.ranges[i]!.documents
      bytes -= block.ranges[i]!.bytes
    }
    block.ranges.splice(from, to - from, ...ranges)
    block.documents += documents
    block.bytes += bytes
    this.#documents += documents
    this.#bytes += bytes
    return true
  }

  #previous({ b, i }: Place): Place {
    return i > 0 ? { b, i: i - 1 } : { b: b - 1, i: this.#blocks[b - 1]!.ranges.length - 1 }
  }

  #between(from: Place, to: Place): SizedRange[] {
    if (from.b === to.b) return (this.#blocks[from.b]?.ranges ?? []).slice(from.i, to.i)
    const found = this.#blocks[from.b]!.ranges.slice(from.i)
    for (let b = from.b + 1; b < to.b; b++) found.push(...this.#blocks[b]!.ranges)
    if (to.i > 0) found.push(...this.#blocks[to.b]!.ranges.slice(0, to.i))
    return found
  }

  #replace(from: Place, to: Place, ranges: readonly SizedRange[]): void {
    if (from.b === to.b && this.#replaceIn(this.#blocks[from.b], from.i, to.i, ranges)) return
    const blocks = this.#blocks
    const head = blocks[from.b]?.ranges.slice(0, from.i) ?? []
    const tail = blocks[to.b]?.ranges.slice(to.i) ?? []
    const last = Math.min(to.b, blocks.length - 1)
    for (let b = from.b; b <= last; b++) {
      this.#documents -= blocks[b]!.documents
      this.#bytes -= blocks[b]!.bytes
    }
    const made = blocksOf([...head, ...ranges, ...tail])
    for (const { documents, bytes } of made) {
      this.#documents += documents
      this.#bytes += bytes
    }
    blocks.splice(from.b, last - from.b + 1, ...made)
  }
}

function beginsBelow({ x0, y0, z0 }: SizedRange, { x, y, z }: Position): boolean {
  return x0 !== x ? x0 < x : y0 !== y ? y0 < y : z0 < z
}

/** The part that {@link RangeSizes.take} would take; null: all documents are above. */
function partBelow(range: SizedRange, at: Position): SizedRange | null {
  if (comparePositions(endOf(range), at) <= 0) return range
  const below = documentsBelow(range, at)
  return below === 0 ? null : withEnd(range, at, sizeOfSome(range, below))
}

function sizeAbove(range: SizedRange, at: Position): Size {
  const below = sizeOfSome(range, documentsBelow(range, at))
  return { documents: range.documents - below.documents, bytes: range.bytes - below.bytes }
}

function blocksOf(ranges: readonly SizedRange[]): Block[] {
  const count = Math.ceil(ranges.length / blockLengthMax)
  return Array.from({ length: count }, (_, n) => {
    const part = ranges.slice(Math.floor((n * ranges.length) / count), Math.floor(((n + 1) * ranges.length) / count))
    return { ranges: part, documents: sum(part, 'documents'), bytes: sum(part, 'bytes') }
  })
}

function sum(ranges: readonly SizedRange[], field: 'documents' | 'bytes'): number {
  let total = 0
  for (const range of ranges) total += range[field]
  return total
}
