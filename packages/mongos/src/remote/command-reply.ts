/** Reading the replies of other members: success, or the error as it is to be raised here. */
import { BsonType, CommandError, documentsOf, elementsOf, FieldIterator, findField, DocumentWriter, noCode } from '@shardlab/bson'

/** Did the command succeed? */
export function isOk(body: Uint8Array): boolean {
  return findField(body, 'ok')?.isTruthy() === true
}

/** The error in a reply, or null when it is none. */
export function replyError(body: Uint8Array): CommandError | null {
  return isOk(body) ? null : commandErrorFrom(body)
}

/** An error document `{ ok: 0, errmsg, code, codeName, errorLabels, … }` as an error; its other fields go along. */
export function commandErrorFrom(document: Uint8Array): CommandError {
  let code: number = noCode
  let message = ''
  let errorLabels: string[] = []
  let extra: DocumentWriter | null = null
  for (const it = new FieldIterator(document); it.next();) {
    const name = it.name()
    switch (name) {
      case 'ok':
      case 'codeName':
      case '$clusterTime':
      case 'operationTime':
        break
      case 'code':
        code = it.value().asNumber()
        break
      case 'errmsg':
        if (it.type === BsonType.string) message = it.value().asString()
        break
      case 'errorLabels':
        errorLabels = elementsOf(it.value()).map((label) => label.asString())
        break
      default:
        extra = (extra ?? new DocumentWriter(128)).value(name, it.value())
    }
  }
  return new CommandError(code, message, { errorLabels, extra: extra === null ? null : extra.finish() })
}

/** Raises an error that travelled as data. @throws CommandError */
export function raise(error: Uint8Array | null): void {
  if (error !== null) throw commandErrorFrom(error)
}

/**
 * Has the router to refresh its routing before it tries again? StaleConfig, StaleDbVersion and, from older shards,
 * StaleEpoch. Server: category NeedRetargettingError.
 */
export function isStaleCode(code: number): boolean {
  return code === 13388 || code === 249 || code === 150
}

/** Copies the fields of a member's reply but `ok` and the times, which this router writes itself. */
export function copyReplyFields(writer: DocumentWriter, body: Uint8Array): DocumentWriter {
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name !== 'ok' && name !== '$clusterTime' && name !== 'operationTime') writer.value(name, it.value())
  }
  return writer
}

/** A reply as large as the body, its `ok` and times; the writer then finishes without a copy. */
export function replyWriterFor(body: Uint8Array): DocumentWriter {
  return new DocumentWriter(body.length + 168)
}

/** The documents in an array field; none when it is missing. */
export function documentsIn(body: Uint8Array, name: string): Uint8Array[] {
  const value = findField(body, name)
  return value === undefined ? [] : documentsOf(value)
}
