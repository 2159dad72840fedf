/** How deep documents lie in each other. Server: bson_depth.h. */
import { readInt32 } from './read.js'
import { FieldIterator } from './scan.js'
import { BsonType } from './types.js'

/** Levels of a document that is stored, itself counted; empty documents and arrays inside do not count. */
export const storedLevelsMax = 180
/** Levels of a document that a server can build. */
export const builtLevelsMax = 200

const emptyBytes = 5
/** The least that another level takes: a type, the end of a name, a length and an end. */
const levelBytesMin = 7

/** Whether a document has more levels than that. What is too short for it is not even looked at. */
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
