import { findField, type RawValue } from '@shardlab/bson'

/** The `_id` of the document that begins here. @throws Error when it has none: whoever writes the log adds it first. */
export function idOf(bytes: Uint8Array, start = 0): RawValue {
  const id = findField(bytes, '_id', start)
  if (id === undefined) throw new Error('a document without _id came to storage')
  return id
}

/** Has the document these very bytes as its `_id`? False also where the field is not the first one, as it is wherever it was stored. */
export function beginsWithId(document: Uint8Array, { type, bytes, start, end }: RawValue): boolean {
  if (document[4] !== type || document[5] !== 0x5f || document[6] !== 0x69 || document[7] !== 0x64 || document[8] !== 0)
    return false
  const shift = valueAt - start
  for (let i = start; i < end; i++) if (document[i + shift] !== bytes[i]) return false
  return true
}

/** Where the value of a document's first field begins when that is `_id`. */
const valueAt = 9
