/** Server: bson_depth.h. */
import { readInt32 } from '../bytes/little-endian.js'
import { FieldIterator } from './scan.js'
import { BsonType } from '../values/types.js'

/** The document itself counts as a level. Empty documents and arrays inside do not. */
export const maxStoredDepth = 180
/** The limit for a document that a server builds. */
export const maxBuiltDepth = 200

const emptyBytes = 5
/** A type, the end of a name, a length and a terminator. */
const levelBytesMin = 7

/** A document too short for that many levels is not scanned. */
export function nestsDeeperThan(document: Uint8Array, levels: number, start = 0): boolean {
  const bytes = readInt32(document, start)
  if (levels === 0) return bytes > emptyBytes
  if (bytes < levels * levelBytesMin) return false
  for (const it = new FieldIterator(document, start); it.next();) {
    if (
      (it.type === BsonType.object || it.type === BsonType.array) &&
      nestsDeeperThan(document, levels - 1, it.valueStart)
    )
      return true
  }
  return false
}
