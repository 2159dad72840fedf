import { readDouble, writeDouble } from '@shardlab/bson'

/**
 * The range `[(x0, y0, z0), (x1, y1, z1))`, with documents evenly spread over whole numbers: over
 * the first field whose ends differ, or all with one key. `documents` is a whole number above 0,
 * `bytes` a whole number. In messages, both are negative for documents that are deleted.
 */
export interface SizedRange {
  readonly x0: number
  readonly y0: number
  readonly z0: number
  readonly x1: number
  readonly y1: number
  readonly z1: number
  readonly documents: number
  readonly bytes: number
}

interface KeyFields {
  readonly fields: readonly { readonly path: string; readonly hashed: boolean }[]
}

/** Documents whose positions under another shard key are needed. */
export interface RekeyedRanges {
  readonly ns: string
  readonly from: KeyFields
  readonly to: KeyFields
  readonly ranges: readonly SizedRange[]
  /** Whether they were added since the resharding began. */
  readonly isGrowth: boolean
}

export const sizedRangeBytes = 64

export function packRanges(ranges: readonly SizedRange[]): Uint8Array {
  const packed = new Uint8Array(ranges.length * sizedRangeBytes)
  let at = 0
  for (const { x0, y0, z0, x1, y1, z1, documents, bytes } of ranges) {
    writeDouble(packed, at, x0)
    writeDouble(packed, at + 8, y0)
    writeDouble(packed, at + 16, z0)
    writeDouble(packed, at + 24, x1)
    writeDouble(packed, at + 32, y1)
    writeDouble(packed, at + 40, z1)
    writeDouble(packed, at + 48, documents)
    writeDouble(packed, at + 56, bytes)
    at += sizedRangeBytes
  }
  return packed
}

export function unpackRanges(packed: Uint8Array): SizedRange[] {
  const ranges: SizedRange[] = []
  for (let at = 0; at < packed.length; at += sizedRangeBytes) {
    ranges.push({
      x0: readDouble(packed, at),
      y0: readDouble(packed, at + 8),
      z0: readDouble(packed, at + 16),
      x1: readDouble(packed, at + 24),
      y1: readDouble(packed, at + 32),
      z1: readDouble(packed, at + 40),
      documents: readDouble(packed, at + 48),
      bytes: readDouble(packed, at + 56),
    })
  }
  return ranges
}
