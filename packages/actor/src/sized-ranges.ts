/** Parts of a key space with the documents in them, for collections that have sizes instead of documents. */

/**
 * From `(x0, y0)` on and below `(x1, y1)`, its documents evenly spread over whole numbers. They lie along the first field; with `x0 = x1` all have
 * that value there and lie along the second; with `y0 = y1`, too, all have one key.
 */
export interface SizedRange {
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
  /** A whole number above 0. */
  readonly documents: number
  /** A whole number. */
  readonly bytes: number
}

const fields = 6

/** For messages. */
export function packRanges(ranges: readonly SizedRange[]): Uint8Array {
  const packed = new Uint8Array(ranges.length * fields * 8)
  const view = new DataView(packed.buffer)
  let at = 0
  for (const { x0, y0, x1, y1, documents, bytes } of ranges)
    for (const number of [x0, y0, x1, y1, documents, bytes]) view.setFloat64(at++ * 8, number, true)
  return packed
}

/** What {@link packRanges} packed. */
export function unpackRanges(packed: Uint8Array): SizedRange[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length)
  return Array.from({ length: packed.length / (8 * fields) }, (_, i) => {
    const at = (field: number): number => view.getFloat64((i * fields + field) * 8, true)
    return { x0: at(0), y0: at(1), x1: at(2), y1: at(3), documents: at(4), bytes: at(5) }
  })
}
