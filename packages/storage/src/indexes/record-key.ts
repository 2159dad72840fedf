/**
 * Each key of a non-unique index ends in its record id, so equal keys are in order of insertion.
 */
import { asBuffer } from '@shardlab/bson'

export const recordIdLength = 6

let scratch = asBuffer(Buffer.allocUnsafeSlow(1024))

/**
 * Appends the id in six bytes, big-endian. Creates a flat string: `+` would create a rope, which
 * slows every comparison.
 */
export function withRecordId(key: string, recordId: number): string {
  const length = key.length + recordIdLength
  if (length > scratch.length) scratch = asBuffer(Buffer.allocUnsafeSlow(length * 2))
  scratch.latin1Write(key, 0, key.length)
  scratch.writeUIntBE(recordId, key.length, recordIdLength)
  return scratch.latin1Slice(0, length)
}
