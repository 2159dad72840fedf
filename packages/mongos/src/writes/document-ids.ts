import { DocumentWriter, findField } from '@shardlab/bson'

/** A document has its `_id` before it is sent, so a retry inserts the same document. */
export function withId(host: { newObjectId(): Uint8Array }, document: Uint8Array): Uint8Array {
  if (startsWithId(document) || findField(document, '_id') !== undefined) return document
  return new DocumentWriter(document.length + 32).objectId('_id', host.newObjectId()).fields(document).finish()
}

function startsWithId(document: Uint8Array): boolean {
  return document[5] === 0x5f && document[6] === 0x69 && document[7] === 0x64 && document[8] === 0
}
