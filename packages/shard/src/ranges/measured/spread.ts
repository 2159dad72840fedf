import type { SizedRange } from '@shardlab/actor'
import type { Position } from './position.js'
import { endOf, hasOneKey, sizeOfSome, startOf, withEnd, withSize } from './sized-range.js'

/** Spreads documents evenly over an interval; new ranges fill its gaps. */
export function spread(known: readonly SizedRange[], grown: SizedRange): SizedRange[] {
  const isAlongFirst = grown.x1 > grown.x0
  const isAlong = (range: SizedRange): boolean => (isAlongFirst ? range.x1 > range.x0 : range.y1 > range.y0)
  const length = ({ x0, y0, x1, y1 }: SizedRange): number => (isAlongFirst ? x1 - x0 : y1 - y0)
  const pieces: SizedRange[] = []
  let from = startOf(grown)
  const gapUntil = (to: Position): void => {
    const gap = { x0: from.x, y0: from.y, x1: to.x, y1: to.y, documents: 0, bytes: 0 }
    if (length(gap) > 0) pieces.push(gap)
  }
  for (const range of known) {
    gapUntil(startOf(range))
    pieces.push(range)
    from = endOf(range)
  }
  gapUntil(endOf(grown))
  const total = length(grown)
  const last = pieces.findLastIndex(isAlong)
  let [covered, documentsGiven, bytesGiven] = [0, 0, 0]
  const all = pieces.map((piece, i) => {
    if (!isAlong(piece)) return piece
    covered += length(piece)
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
 * Joins neighbours of equal density or with one first value: otherwise each growth at the end of
 * the key space would add a range.
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
  if (a.x1 !== b.x0 || a.y1 !== b.y0) return false
  const isAlongFirst = a.x1 > a.x0
  if (isAlongFirst !== b.x1 > b.x0 || hasOneKey(a) || hasOneKey(b)) return false
  if (!isAlongFirst) return true
  const length = (range: SizedRange): number => range.x1 - range.x0
  return a.documents * length(b) === b.documents * length(a) && a.bytes * b.documents === b.bytes * a.documents
}
