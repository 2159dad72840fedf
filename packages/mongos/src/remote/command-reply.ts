/** Reads the replies of other members: success, or an error to throw. */
import { documentsOf, FieldIterator, findField, DocumentWriter } from '@shardlab/bson'
import { commandErrorFrom } from '@shardlab/member'

export { commandErrorFrom, isOk, replyError } from '@shardlab/member'

/** Throws an error that was sent as data. @throws CommandError */
export function raise(error: Uint8Array | null): void {
  if (error !== null) throw commandErrorFrom(error)
}

/**
 * Whether the router has to refresh its routing before it retries: StaleConfig, StaleDbVersion and,
 * from older shards, StaleEpoch. Server: category NeedRetargettingError.
 */
export function isStaleCode(code: number): boolean {
  return code === 13388 || code === 249 || code === 150
}

/**
 * Copies the fields of a member's reply, except `ok` and the times, which this router writes
 * itself.
 */
export function copyReplyFields(writer: DocumentWriter, body: Uint8Array): DocumentWriter {
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name !== 'ok' && name !== '$clusterTime' && name !== 'operationTime') writer.value(name, it.value())
  }
  return writer
}

/** A writer with room for the body, `ok` and the times, so that finishing does not copy. */
export function replyWriterFor(body: Uint8Array): DocumentWriter {
  return new DocumentWriter(body.length + 168)
}

/** The documents in an array field; empty if it is missing. */
export function documentsIn(body: Uint8Array, name: string): Uint8Array[] {
  const value = findField(body, name)
  return value === undefined ? [] : documentsOf(value)
}
