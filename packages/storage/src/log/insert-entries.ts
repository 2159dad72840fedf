import { findField, writeInt32, writeInt64Number } from '@shardlab/bson'
import { encodeLogEntry, type LogEntry, type LogSession, type OpTime } from './log-entry.js'

export interface InsertEntries {
  readonly ns: string
  readonly uuid: Uint8Array
  /** Of the first entry; each further entry is one increment later. */
  readonly ts: LogEntry['ts']
  readonly term: number
  readonly wallMs: number
  /** One statement id per document; null: not part of a retryable write. */
  readonly session: LogSession | null
  /** Of the first entry; the one of each further entry is the entry before it. */
  readonly prevOpTime?: OpTime
}

const emptyDocument = new Uint8Array([5, 0, 0, 0, 0])

/**
 * In one buffer: the bytes of {@link encodeLogEntry} for each of the first `count` documents. The
 * entries differ only in their documents, times and statements.
 */
export function encodeInsertEntries(
  { ns, uuid, ts, term, wallMs, session, prevOpTime }: InsertEntries,
  documents: readonly Uint8Array[],
  count: number,
): Uint8Array {
  const one = session === null ? null : { ...session, stmtIds: [0] }
  const model = encodeLogEntry({
    ...{ op: 'i', ns, uuid, ts, term, wallMs, session: one, ...(prevOpTime === undefined ? {} : { prevOpTime }) },
    ...{ object: emptyDocument, id: null, difference: null },
  })
  const objectAt = findField(model, 'o')!.start
  const tail = model.subarray(objectAt + emptyDocument.length)
  const inTail = (at: number) => at - objectAt - emptyDocument.length
  const statementAt = one === null ? 0 : inTail(findField(model, 'stmtId')!.start)
  const incrementAt = inTail(findField(model, 'ts')!.start)
  const previous = one === null ? undefined : findField(model, 'prevOpTime')!
  const previousAt = previous === undefined ? 0 : inTail(findField(model, 'ts', previous.start)!.start)
  const previousTermAt = previous === undefined ? 0 : inTail(findField(model, 't', previous.start)!.start)
  const around = model.length - emptyDocument.length
  const between = Buffer.concat([tail, model.subarray(0, objectAt)])
  let length = count * around
  for (let i = 0; i < count; i++) length += documents[i]!.length
  const bytes = Buffer.allocUnsafeSlow(length)
  bytes.set(model.subarray(0, objectAt), 0)
  for (let i = 0, at = 0; i < count; i++) {
    const document = documents[i]!
    writeInt32(bytes, at, around + document.length)
    bytes.set(document, at + objectAt)
    const tailAt = at + objectAt + document.length
    at += around + document.length
    bytes.set(i + 1 < count ? between : tail, tailAt)
    writeInt32(bytes, tailAt + incrementAt, ts[1] + i)
    if (session === null) continue
    writeInt32(bytes, tailAt + statementAt, session.stmtIds[i]!)
    if (i === 0) continue
    writeInt32(bytes, tailAt + previousAt, ts[1] + i - 1)
    writeInt32(bytes, tailAt + previousAt + 4, ts[0])
    writeInt64Number(bytes, tailAt + previousTermAt, term)
  }
  return bytes
}
