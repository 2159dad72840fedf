import { DocumentWriter, FieldIterator } from '@shardlab/bson'
import type { CursorReply } from '@shardlab/member'
import { replyWriterFor } from '../remote/command-reply.js'

export { readCursorReply, type CursorReply } from '@shardlab/member'

/** Copies the batch in one piece. */
export function writeCursorReply(
  body: Uint8Array,
  { cursor, id, ns }: CursorReply,
  ownId: bigint,
  ownNs = ns,
): DocumentWriter {
  const writer = replyWriterFor(body)
  if (id === ownId && ns === ownNs) return writer.value('cursor', cursor)
  writer.startDocument('cursor')
  for (const it = new FieldIterator(cursor.bytes, cursor.start); it.next();) {
    const name = it.name()
    if (name === 'id') writer.int64('id', ownId)
    else if (name === 'ns') writer.string('ns', ownNs)
    else writer.value(name, it.value())
  }
  return writer.end()
}

export function writeEmptyCursor(ns: string): DocumentWriter {
  return new DocumentWriter(384)
    .startDocument('cursor')
    .int64('id', 0n)
    .string('ns', ns)
    .startArray('firstBatch')
    .end()
    .end()
}
