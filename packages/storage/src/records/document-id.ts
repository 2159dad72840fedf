import { findField, type RawValue } from '@shardlab/bson'

/**
 * @param start of the document in `bytes`
 * @throws Error if there is no `_id`: the writer of the log adds it
 */
export function idOf(bytes: Uint8Array, start = 0): RawValue {
  const id = findField(bytes, '_id', start)
  if (id === undefined) throw new Error('a document has no _id: the writer of the log must add it')
  return id
}

/**
 * Whether the document begins with an `_id` of exactly these bytes. False also if another field is
 * first; `_id` is first in every stored document.
 */
export function beginsWithId(document: Uint8Array, { type, bytes, start, end }: RawValue): boolean {
  if (document[4] !== type || document[5] !== 0x5f || document[6] !== 0x69 || document[7] !== 0x64 || document[8] !== 0)
    return false
  const shift = valueAt - start
  for (let i = start; i < end; i++) if (document[i + shift] !== bytes[i]) return false
  return true
}

const valueAt = 9
