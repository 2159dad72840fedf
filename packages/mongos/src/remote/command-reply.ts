import { documentsOf, DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import { commandErrorFrom } from '@shardlab/member'

export { commandErrorFrom, isOk, isStaleCode, replyError } from '@shardlab/member'

/** @throws CommandError that was sent as data */
export function raise(error: Uint8Array | null): void {
  if (error !== null) throw commandErrorFrom(error)
}

/** Omits `ok` and the times, which this router writes itself. */
export function copyReplyFields(writer: DocumentWriter, body: Uint8Array): DocumentWriter {
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name !== 'ok' && name !== '$clusterTime' && name !== 'operationTime') writer.value(name, it.value())
  }
  return writer
}

/** Has room for the body, `ok` and the times, so that finishing does not copy. */
export function replyWriterFor(body: Uint8Array): DocumentWriter {
  return new DocumentWriter(body.length + 168)
}

export function documentsIn(body: Uint8Array, name: string): Uint8Array[] {
  const value = findField(body, name)
  return value === undefined ? [] : documentsOf(value)
}
