/** Keys of an index whose keys may repeat: each ends in its record id, so that equal ones lie in order of insertion. */
import { asBuffer } from '@shardlab/bson'

/** What a key is longer by. */
export const recordIdLength = 6

let scratch = asBuffer(Buffer.allocUnsafeSlow(1024))

/** Appends the id in six bytes, the highest first. The string is made flat: `+` would make every comparison slower. */
export function withRecordId(key: string, recordId: number): string {
  const length = key.length + recordIdLength
  if (length > scratch.length) scratch = asBuffer(Buffer.allocUnsafeSlow(length * 2))
  scratch.latin1Write(key, 0, key.length)
  scratch.writeUIntBE(recordId, key.length, recordIdLength)
  return scratch.latin1Slice(0, length)
}
