import type { SizedRange } from '@shardlab/actor'
import { noSize, type Size } from '../collection-ranges.js'
import { comparePositions, type Position } from './position.js'

export const startOf = ({ x0, y0 }: SizedRange): Position => ({ x: x0, y: y0 })
export const endOf = ({ x1, y1 }: SizedRange): Position => ({ x: x1, y: y1 })

export function hasOneKey({ x0, y0, x1, y1 }: SizedRange): boolean {
  return x0 === x1 && y0 === y1
}

export function documentsBelow(range: SizedRange, at: Position): number {
  const { documents, x0, y0, x1, y1 } = range
  if (comparePositions(startOf(range), at) >= 0) return 0
  if (comparePositions(endOf(range), at) <= 0) return documents
  const share = x1 > x0 ? (at.x - x0) / (x1 - x0) : (at.y - y0) / (y1 - y0)
  // Subtract the rounding error: a whole number must not be rounded up.
  return Math.max(0, Math.min(documents, Math.ceil(share * documents - 1e-9)))
}

export function sizeOfSome({ documents, bytes }: Size, some: number): Size {
  if (some === 0) return noSize
  return some === documents ? { documents, bytes } : { documents: some, bytes: Math.round((bytes * some) / documents) }
}

/** @param n from 0 */
export function keyOfDocument({ x0, y0, x1, y1, documents }: SizedRange, n: number): Position {
  if (x1 > x0)
    return n === 0
      ? { x: x0, y: y0 }
      : { x: Math.max(x0, Math.floor(x0 + (n * (x1 - x0)) / documents)), y: Number.NEGATIVE_INFINITY }
  return y1 > y0 ? { x: x0, y: Math.floor(y0 + (n * (y1 - y0)) / documents) } : { x: x0, y: y0 }
}

/** Counts documents with keys up to that of the n-th one. */
export function documentsThrough(range: SizedRange, n: number): number {
  const { x, y } = keyOfDocument(range, n)
  if (hasOneKey(range)) return range.documents
  const isAlongFirst = range.x1 > range.x0
  const next = isAlongFirst ? { x: x + 1, y: Number.NEGATIVE_INFINITY } : { x, y: y + 1 }
  return Math.max(n + 1, documentsBelow(range, next))
}

/** null: no documents on one side. */
export function cutRange(range: SizedRange, at: Position): readonly [SizedRange, SizedRange] | null {
  const below = documentsBelow(range, at)
  if (below === 0 || below === range.documents) return null
  const low = sizeOfSome(range, below)
  return [
    withEnd(range, at, low),
    withStart(range, at, { documents: range.documents - low.documents, bytes: range.bytes - low.bytes }),
  ]
}

// Each field by name: all objects must have one shape, as there are many ranges.

export function withSize({ x0, y0, x1, y1 }: SizedRange, { documents, bytes }: Size): SizedRange {
  return { x0, y0, x1, y1, documents, bytes }
}

export function withStart({ x1, y1 }: SizedRange, { x, y }: Position, { documents, bytes }: Size): SizedRange {
  return { x0: x, y0: y, x1, y1, documents, bytes }
}

export function withEnd({ x0, y0 }: SizedRange, { x, y }: Position, { documents, bytes }: Size): SizedRange {
  return { x0, y0, x1: x, y1: y, documents, bytes }
}

export function sizeOf(ranges: readonly SizedRange[]): Size {
  let [documents, bytes] = [0, 0]
  for (const range of ranges) {
    documents += range.documents
    bytes += range.bytes
  }
  return { documents, bytes }
}
