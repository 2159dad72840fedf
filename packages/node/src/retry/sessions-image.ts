/** For checkpoints, and for members that take over documents. */
import { BsonType, DocumentWriter, elementsOf, findField, documentsOf, type RawValue } from '@shardlab/bson'
import type { RetryImage } from '@shardlab/storage'
import type { RetryHistoryImage, ExecutedStatement } from './executed-statement.js'

export function encodeSessionsImage(image: RetryHistoryImage): Uint8Array {
  const writer = new DocumentWriter(1024).startArray('sessions')
  image.forEach(({ key, txnNumber, statements }, i) => {
    writer
      .startDocument(String(i))
      .binary('key', 0, Buffer.from(key, 'latin1'))
      .int64('txnNumber', txnNumber)
      .startArray('statements')
    statements.forEach(({ stmtId, op, insertedId, image }, s) => {
      writer.startDocument(String(s)).int32('stmtId', stmtId).string('op', op)
      if (insertedId !== null) writer.value('insertedId', insertedId)
      if (image !== null) writer.document(image.kind, image.document)
      writer.end()
    })
    writer.end().end()
  })
  return writer.end().finish()
}

export function isSessionsImage(object: Uint8Array): boolean {
  return findField(object, 'sessions')?.type === BsonType.array
}

export function decodeSessionsImage(bytes: Uint8Array): RetryHistoryImage {
  return documentsOf(findField(bytes, 'sessions')!).map((session) => {
    const key = findField(session, 'key')!
    return {
      key: Buffer.from(session.slice(key.start + 5, key.end)).toString('latin1'),
      txnNumber: findField(session, 'txnNumber')!.asBigInt(),
      statements: elementsOf(findField(session, 'statements')!).map((statement) => ({
        stmtId: findField(statement.bytes, 'stmtId', statement.start)!.asNumber(),
        op: findField(statement.bytes, 'op', statement.start)!.asString() as ExecutedStatement['op'],
        insertedId: findField(statement.bytes, 'insertedId', statement.start)?.detached() ?? null,
        image: imageOf(statement),
      })),
    }
  })
}

function imageOf(statement: RawValue): RetryImage | null {
  for (const kind of ['preImage', 'postImage'] as const) {
    const document = findField(statement.bytes, kind, statement.start)
    if (document !== undefined) return { kind, document: new Uint8Array(document.slice()) }
  }
  return null
}
