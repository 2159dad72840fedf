import type { SizedRange } from '@shardlab/actor'
import type { Position } from './position.js'
import { noSize } from '../collection-ranges.js'
import { axisOf, endOf, lengthOf, sizeOfSome, startOf, withEnd, withSize, withStart } from './sized-range.js'

/** Spreads documents evenly over an interval; new ranges fill its gaps. */
export function spread(known: readonly SizedRange[], grown: SizedRange): SizedRange[] {
  const axis = axisOf(grown)
  const isAlong = (range: SizedRange): boolean => axisOf(range) === axis
  const pieces: SizedRange[] = []
  let from = startOf(grown)
  const gapUntil = (to: Position): void => {
    const gap = withEnd(withStart(grown, from, noSize), to, noSize)
    if (lengthOf(gap, axis) > 0) pieces.push(gap)
  }
  for (const range of known) {
    gapUntil(startOf(range))
    pieces.push(range)
    from = endOf(range)
  }
  gapUntil(endOf(grown))
  const total = lengthOf(grown, axis)
  const last = pieces.findLastIndex(isAlong)
  let [covered, documentsGiven, bytesGiven] = [0, 0, 0]
  const all = pieces.map((piece, i) => {
    if (!isAlong(piece)) return piece
    covered += lengthOf(piece, axis)
    const documents =
      (i === last ? grown.documents : Math.min(grown.documents, Math.round((grown.documents * covered) / total))) -
      documentsGiven
    documentsGiven += documents
    const bytes = sizeOfSome(grown, documentsGiven).bytes - bytesGiven
    bytesGiven += bytes
    return withSize(piece, { documents: piece.documents + documents, bytes: piece.bytes + bytes })
  })
  return join(all.filter(({ documents }) => documents > 0))
}

/**
 * Joins neighbours of equal density, or spread along a later field: otherwise each growth at the
 * end of the key space would add a range.
 */
export function join(pieces: readonly SizedRange[]): SizedRange[] {
  const done: SizedRange[] = []
  for (const piece of pieces) {
    const last = done.at(-1)
    if (last === undefined || !canJoin(last, piece)) done.push(piece)
    else
      done[done.length - 1] = withEnd(last, endOf(piece), {
        documents: last.documents + piece.documents,
        bytes: last.bytes + piece.bytes,
      })
  }
  return done
}

export function canJoin(a: SizedRange, b: SizedRange): boolean {
  if (a.x1 !== b.x0 || a.y1 !== b.y0 || a.z1 !== b.z0) return false
  const axis = axisOf(a)
  if (axis !== axisOf(b) || axis === 3) return false
  if (axis > 0) return true
  return (
    a.documents * lengthOf(b, 0) === b.documents * lengthOf(a, 0) && a.bytes * b.documents === b.bytes * a.documents
  )
}
