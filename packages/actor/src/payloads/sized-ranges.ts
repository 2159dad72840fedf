import { readDouble, writeDouble } from '@shardlab/bson'

/**
 * The range `[(x0, y0), (x1, y1))`, with documents evenly spread over whole numbers: over the first
 * field, or with `x0 = x1` over the second one. With `y0 = y1` as well all documents have one key.
 * `documents` is a whole number above 0, `bytes` a whole number.
 */
export interface SizedRange {
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
  readonly documents: number
  readonly bytes: number
}

const rangeBytes = 48

export function packRanges(ranges: readonly SizedRange[]): Uint8Array {
  const packed = new Uint8Array(ranges.length * rangeBytes)
  let at = 0
  for (const { x0, y0, x1, y1, documents, bytes } of ranges) {
    writeDouble(packed, at, x0)
    writeDouble(packed, at + 8, y0)
    writeDouble(packed, at + 16, x1)
    writeDouble(packed, at + 24, y1)
    writeDouble(packed, at + 32, documents)
    writeDouble(packed, at + 40, bytes)
    at += rangeBytes
  }
  return packed
}

export function unpackRanges(packed: Uint8Array): SizedRange[] {
  const ranges: SizedRange[] = []
  for (let at = 0; at < packed.length; at += rangeBytes) {
    ranges.push({
      x0: readDouble(packed, at),
      y0: readDouble(packed, at + 8),
      x1: readDouble(packed, at + 16),
      y1: readDouble(packed, at + 24),
      documents: readDouble(packed, at + 32),
      bytes: readDouble(packed, at + 40),
    })
  }
  return ranges
}
