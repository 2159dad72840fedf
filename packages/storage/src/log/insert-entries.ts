import { findField, writeInt32, writeInt64Number } from '@shardlab/bson'
import { keyElementLength, writeKey } from './plain-entry.js'
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
  /** The document key, which becomes `o2`. Null: no entry has one. */
  readonly keyOf: KeyOfInserted | null
}

/** Null: the key is `_id` alone. */
export type KeyOfInserted = (document: Uint8Array) => Uint8Array | null

const emptyDocument = new Uint8Array([5, 0, 0, 0, 0])

/**
 * In one buffer: the bytes of {@link encodeLogEntry} for each of the first `count` documents. The
 * entries differ only in their documents, times and statements.
 */
export function encodeInsertEntries(
  { ns, uuid, ts, term, wallMs, session, prevOpTime, keyOf }: InsertEntries,
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
  const keys = keyOf === null ? null : keysOf(documents, count, keyOf)
  let length = count * around
  for (let i = 0; i < count; i++) length += documents[i]!.length + (keys === null ? 0 : keyElementLength(keys[i]!))
  const bytes = Buffer.allocUnsafeSlow(length)
  bytes.set(model.subarray(0, objectAt), 0)
  for (let i = 0, at = 0; i < count; i++) {
    const document = documents[i]!
    const key = keys === null ? null : keys[i]!
    const objectEnd = at + objectAt + document.length
    bytes.set(document, at + objectAt)
    const tailAt = key === null ? objectEnd : writeKey(key, bytes, objectEnd)
    const entryLength = around + tailAt - at - objectAt
    writeInt32(bytes, at, entryLength)
    at += entryLength
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

function keysOf(documents: readonly Uint8Array[], count: number, keyOf: KeyOfInserted): (Uint8Array | null)[] {
  const keys: (Uint8Array | null)[] = []
  for (let i = 0; i < count; i++) keys.push(keyOf(documents[i]!))
  return keys
}
