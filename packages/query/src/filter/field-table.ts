/**
 * Tests a conjunction of predicates in one pass over the document's top-level fields, instead of
 * one search per predicate.
 */
import { BsonType, valueEnd } from '@shardlab/bson'
import type { ValueTest } from '../path/walk.js'
import type { DocumentTest } from './operator.js'

export interface FieldEntry {
  readonly name: Uint8Array
  readonly test: ValueTest
}

/** With more entries, one pass is slower than separate searches. */
export const maxTableEntries = 8

export function compileFieldTable(entries: readonly FieldEntry[]): DocumentTest {
  const count = entries.length
  const names = entries.map((entry) => entry.name)
  const tests = entries.map((entry) => entry.test)
  const all = (1 << count) - 1
  return (bytes, documentStart) => {
    let seen = 0
    let at = documentStart + 4
    for (;;) {
      const type = bytes[at]!
      if (type === 0) break
      const nameStart = at + 1
      let start = nameStart
      while (bytes[start] !== 0) start++
      start++
      // Checking the common sizes first avoids a call and a jump table.
      const end =
        type === BsonType.int32 ? start + 4 : type === BsonType.double ? start + 8 : valueEnd(type, bytes, start)
      const length = start - nameStart - 1
      for (let k = 0; k < count; k++) {
        const name = names[k]!
        if (name.length !== length || (seen & (1 << k)) !== 0) continue
        let i = 0
        while (i < length && bytes[nameStart + i] === name[i]) i++
        if (i < length) continue
        if (!tests[k]!(type, bytes, start, end)) return false
        seen |= 1 << k
      }
      if (seen === all) return true
      at = end
    }
    for (let k = 0; k < count; k++) {
      if ((seen & (1 << k)) === 0 && !tests[k]!(0, bytes, 0, 0)) return false
    }
    return true
  }
}
