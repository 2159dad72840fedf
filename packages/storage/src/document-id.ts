import { findField, type RawValue } from '@shardlab/bson'

/** The document's `_id`. @throws Error when it has none: whoever writes the log adds it first. */
export function idOf(document: Uint8Array): RawValue {
  const id = findField(document, '_id')
  if (id === undefined) throw new Error('a document without _id came to storage')
  return id
}
