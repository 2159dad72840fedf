import type { SizedRange } from '@shardlab/actor'
import type { Interval, Position } from './position.js'
import { endOf, hasOneKey, sizeOf, sizeOfSome, startOf, withSize } from './sized-range.js'

/** A range of one key includes its documents in later fields. */
export function keysOf(range: SizedRange): Interval {
  const min = startOf(range)
  return { min, max: hasOneKey(range) ? afterKey(min) : endOf(range) }
}

/** Deletes so many documents, or all if there are fewer, of each part the same share. */
export function divided(
  stored: readonly SizedRange[],
  documents: number,
): { readonly deleted: SizedRange[]; readonly kept: SizedRange[] } {
  const all = sizeOf(stored).documents
  const wanted = Math.min(all, documents)
  const [deleted, kept]: [SizedRange[], SizedRange[]] = [[], []]
  let [before, given] = [0, 0]
  for (const piece of stored) {
    before += piece.documents
    const some = Math.min(piece.documents, Math.round((wanted * before) / all) - given)
    given += some
    const size = sizeOfSome(piece, some)
    if (some > 0) deleted.push(withSize(piece, size))
    if (some < piece.documents)
      kept.push(withSize(piece, { documents: piece.documents - some, bytes: piece.bytes - size.bytes }))
  }
  return { deleted, kept }
}

/** Above all keys that begin with the fields of this one. */
function afterKey({ x, y, z }: Position): Position {
  const none = Number.NEGATIVE_INFINITY
  if (y === none) return { x: nextNumber(x), y: none, z: none }
  return z === none ? { x, y: nextNumber(y), z: none } : { x, y, z: nextNumber(z) }
}

/** Positions are whole numbers, and those of hashes further apart. */
function nextNumber(n: number): number {
  return n + Math.max(1, Math.abs(n) * Number.EPSILON)
}
