/** For checkpoints, and for members that take over documents. */
import {
  arrayIndexName,
  BsonType,
  DocumentWriter,
  elementsOf,
  findField,
  documentsOf,
  type RawValue,
} from '@shardlab/bson'
import { opTimeOf, type OpTime, type RetryImage } from '@shardlab/storage'
import type { ExecutedStatement } from './executed-statement.js'
import type { RetryHistoryImage, SessionImage, StatementsImage, TransactionState } from './retry-history-image.js'
import { InsertedRun } from './inserted-run.js'

export function encodeSessionsImage(image: RetryHistoryImage): Uint8Array {
  const writer = new DocumentWriter(1024).startArray('sessions')
  image.forEach((session, i) => {
    writeSession(writer.startDocument(arrayIndexName(i)), session)
    writer.end()
  })
  return writer.end().finish()
}

function writeSession(
  writer: DocumentWriter,
  { key, txnNumber, lastWriteAtMs, lastOpTime, isIncomplete, transaction, namespaces }: SessionImage,
): void {
  writer
    .binary('key', 0, Buffer.from(key, 'latin1'))
    .int64('txnNumber', txnNumber)
    .date('lastWriteDate', lastWriteAtMs)
    .bool('incomplete', isIncomplete)
  if (transaction !== null) writer.string('state', transaction)
  if (lastOpTime !== null) {
    const { ts, term } = lastOpTime
    writer.startDocument('lastWriteOpTime').timestamp('ts', ts[0], ts[1]).int64('t', term).end()
  }
  writer.startArray('namespaces')
  namespaces.forEach(({ ns, statements, runs }, n) => {
    writer.startDocument(arrayIndexName(n)).string('ns', ns).startArray('statements')
    statements.forEach(({ stmtId, op, insertedId, image }, s) => {
      writer.startDocument(arrayIndexName(s)).int32('stmtId', stmtId).string('op', op)
      if (insertedId !== null) writer.value('insertedId', insertedId)
      if (image !== null) writer.document(image.kind, image.document)
      writer.end()
    })
    writer.end().startArray('runs')
    runs.forEach(({ count, bytes }, r) =>
      writer.startDocument(arrayIndexName(r)).int32('count', count).binary('packed', 0, bytes).end(),
    )
    writer.end().end()
  })
  writer.end()
}

export function isSessionsImage(object: Uint8Array): boolean {
  return findField(object, 'sessions')?.type === BsonType.array
}

/** Copies what it keeps. */
export function decodeSessionsImage(bytes: Uint8Array): RetryHistoryImage {
  return documentsOf(findField(bytes, 'sessions')!).map((session) => ({
    lastOpTime: lastOpTimeOf(session),
    key: Buffer.from(findField(session, 'key')!.asBinary()).toString('latin1'),
    txnNumber: findField(session, 'txnNumber')!.asBigInt(),
    lastWriteAtMs: Number(findField(session, 'lastWriteDate')!.asBigInt()),
    isIncomplete: findField(session, 'incomplete')?.isTruthy() === true,
    transaction: (findField(session, 'state')?.asString() as TransactionState | undefined) ?? null,
    namespaces: documentsOf(findField(session, 'namespaces')!).map(readStatements),
  }))
}

function lastOpTimeOf(session: Uint8Array): OpTime | null {
  const value = findField(session, 'lastWriteOpTime')
  return value === undefined ? null : opTimeOf(value.bytes, value.start)
}

function readStatements(document: Uint8Array): StatementsImage {
  return {
    ns: findField(document, 'ns')!.asString(),
    statements: elementsOf(findField(document, 'statements')!).map((statement) => ({
      stmtId: findField(statement.bytes, 'stmtId', statement.start)!.asNumber(),
      op: findField(statement.bytes, 'op', statement.start)!.asString() as ExecutedStatement['op'],
      insertedId: findField(statement.bytes, 'insertedId', statement.start)?.detached() ?? null,
      image: imageOf(statement),
    })),
    runs: documentsOf(findField(document, 'runs')!).map(
      (run) =>
        new InsertedRun(new Uint8Array(findField(run, 'packed')!.asBinary()), findField(run, 'count')!.asNumber()),
    ),
  }
}

function imageOf(statement: RawValue): RetryImage | null {
  for (const kind of ['preImage', 'postImage'] as const) {
    const document = findField(statement.bytes, kind, statement.start)
    if (document !== undefined) return { kind, document: new Uint8Array(document.slice()) }
  }
  return null
}
