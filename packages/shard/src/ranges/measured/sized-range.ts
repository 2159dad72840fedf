import type { SizedRange } from '@shardlab/actor'
import { noSize, type Size } from '../collection-ranges.js'
import { comparePositions, type Position } from './position.js'

const none = Number.NEGATIVE_INFINITY

export const startOf = ({ x0, y0, z0 }: SizedRange): Position => ({ x: x0, y: y0, z: z0 })
export const endOf = ({ x1, y1, z1 }: SizedRange): Position => ({ x: x1, y: y1, z: z1 })

/** The field along which the documents are spread, 0 to 2; 3: all have one key. */
export function axisOf({ x0, y0, z0, x1, y1, z1 }: SizedRange): number {
  return x1 > x0 ? 0 : y1 > y0 ? 1 : z1 > z0 ? 2 : 3
}

export function hasOneKey({ x0, y0, z0, x1, y1, z1 }: SizedRange): boolean {
  return x0 === x1 && y0 === y1 && z0 === z1
}

/** Along the axis. */
export function lengthOf({ x0, y0, z0, x1, y1, z1 }: SizedRange, axis: number): number {
  return axis === 0 ? x1 - x0 : axis === 1 ? y1 - y0 : z1 - z0
}

export function documentsBelow(range: SizedRange, at: Position): number {
  const { documents, x0, y0, z0 } = range
  if (comparePositions(startOf(range), at) >= 0) return 0
  if (comparePositions(endOf(range), at) <= 0) return documents
  const axis = axisOf(range)
  const share = (axis === 0 ? at.x - x0 : axis === 1 ? at.y - y0 : at.z - z0) / lengthOf(range, axis)
  // Subtract the rounding error: a whole number must not be rounded up.
  return Math.max(0, Math.min(documents, Math.ceil(share * documents - 1e-9)))
}

export function sizeOfSome({ documents, bytes }: Size, some: number): Size {
  if (some === 0) return noSize
  return some === documents ? { documents, bytes } : { documents: some, bytes: Math.round((bytes * some) / documents) }
}

/** @param n from 0 */
export function keyOfDocument(range: SizedRange, n: number): Position {
  const { x0, y0, z0, documents } = range
  const axis = axisOf(range)
  if (axis === 3 || (n === 0 && (axis === 0 || z0 !== none))) return startOf(range)
  const steps = (n * lengthOf(range, axis)) / documents
  if (axis === 0) return { x: Math.max(x0, Math.floor(x0 + steps)), y: none, z: none }
  return axis === 1 ? { x: x0, y: Math.floor(y0 + steps), z: none } : { x: x0, y: y0, z: Math.floor(z0 + steps) }
}

/** Counts documents with keys up to that of the n-th one. */
export function documentsThrough(range: SizedRange, n: number): number {
  const { x, y, z } = keyOfDocument(range, n)
  const axis = axisOf(range)
  if (axis === 3) return range.documents
  const next = axis === 0 ? { x: x + 1, y: none, z: none } : axis === 1 ? { x, y: y + 1, z: none } : { x, y, z: z + 1 }
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

export function withSize({ x0, y0, z0, x1, y1, z1 }: SizedRange, { documents, bytes }: Size): SizedRange {
  return { x0, y0, z0, x1, y1, z1, documents, bytes }
}

export function negative(range: SizedRange): SizedRange {
  return withSize(range, { documents: -range.documents, bytes: -range.bytes })
}

export function withStart({ x1, y1, z1 }: SizedRange, { x, y, z }: Position, { documents, bytes }: Size): SizedRange {
  return { x0: x, y0: y, z0: z, x1, y1, z1, documents, bytes }
}

export function withEnd({ x0, y0, z0 }: SizedRange, { x, y, z }: Position, { documents, bytes }: Size): SizedRange {
  return { x0, y0, z0, x1: x, y1: y, z1: z, documents, bytes }
}

export function sizeOf(ranges: readonly SizedRange[]): Size {
  let [documents, bytes] = [0, 0]
  for (const range of ranges) {
    documents += range.documents
    bytes += range.bytes
  }
  return { documents, bytes }
}
