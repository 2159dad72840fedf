/** The `cursor` field of replies of find, aggregate, list commands and getMore. */
import { DocumentWriter, FieldIterator, findField, type RawValue } from '@shardlab/bson'
import { replyWriterFor } from '../remote/command-reply.js'

export interface CursorReply {
  /** 0n: nothing follows. */
  readonly id: bigint
  readonly ns: string
  /** The array of documents. */
  readonly batch: RawValue
  /** The whole `cursor` value. */
  readonly cursor: RawValue
}

/** Reads `{ cursor: { firstBatch | nextBatch, id, ns } }`. Throws when it is none: members are ours. */
export function readCursorReply(body: Uint8Array, batchName: 'firstBatch' | 'nextBatch'): CursorReply {
  const cursor = findField(body, 'cursor')
  const id = cursor === undefined ? undefined : findField(cursor.bytes, 'id', cursor.start)
  const ns = cursor === undefined ? undefined : findField(cursor.bytes, 'ns', cursor.start)
  const batch = cursor === undefined ? undefined : findField(cursor.bytes, batchName, cursor.start)
  if (cursor === undefined || id === undefined || ns === undefined || batch === undefined)
    throw new Error(`a reply lacks its cursor or the ${batchName} in it`)
  return { id: id.asBigInt(), ns: ns.asString(), batch, cursor }
}

/** The reply of a member with this router's cursor id in place of the member's; the batch is copied in one piece. */
export function writeCursorReply(body: Uint8Array, { cursor, id, ns }: CursorReply, ownId: bigint, ownNs = ns): DocumentWriter {
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

/** A reply with nothing in it. */
export function writeEmptyCursor(ns: string): DocumentWriter {
  return new DocumentWriter(384).startDocument('cursor').startArray('firstBatch').end().int64('id', 0n).string('ns', ns).end()
}
