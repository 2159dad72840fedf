/** Nesting depth of documents. Server: bson_depth.h. */
import { readInt32 } from '../bytes/little-endian.js'
import { FieldIterator } from './scan.js'
import { BsonType } from '../values/types.js'

/**
 * Depth of a stored document, the document itself included. Empty documents and arrays inside do
 * not count.
 */
export const maxStoredDepth = 180
/** Depth of a document that a server can build. */
export const maxBuiltDepth = 200

const emptyBytes = 5
/** Fewest bytes of one more level: a type, the end of a name, a length and a terminator. */
const levelBytesMin = 7

/** Whether a document has more levels than that. A document too short for it is not scanned. */
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
