/** Adjacent chunks. The lower bounds are ascending KeyStrings. */
export interface Block {
  readonly mins: readonly string[]
  /**
   * {@link rowLength} numbers for each chunk: its owner's number in the table's shard list, then
   * its version. Never changed.
   */
  readonly rows: readonly number[]
}

/** Owner, major, minor. */
export const rowLength = 3

export const ownerIn = ({ rows }: Block, i: number): number => rows[i * rowLength]!
export const majorIn = ({ rows }: Block, i: number): number => rows[i * rowLength + 1]!
export const minorIn = ({ rows }: Block, i: number): number => rows[i * rowLength + 2]!

export const blockSizeMax = 128

/** Parts have about half the largest size. */
export function splitBlock(block: Block): Block[] {
  const length = block.mins.length
  if (length <= blockSizeMax) return [block]
  const size = Math.ceil(length / Math.ceil(length / (blockSizeMax / 2)))
  const parts: Block[] = []
  for (let at = 0; at < length; at += size) {
    parts.push({
      mins: block.mins.slice(at, at + size),
      rows: block.rows.slice(at * rowLength, (at + size) * rowLength),
    })
  }
  return parts
}

/** Index of the last bound at or before the key; 0: the key is before all bounds. */
export function positionIn(mins: readonly string[], keyString: string): number {
  let low = 0
  let high = mins.length
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (mins[middle]! <= keyString) low = middle
    else high = middle
  }
  return low
}

/** Index of the first bound at or after the key; the length: all bounds are before it. */
export function lowerBound(mins: readonly string[], keyString: string): number {
  let low = 0
  let high = mins.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (mins[middle]! < keyString) low = middle + 1
    else high = middle
  }
  return low
}
