/** The commands of a load test as OP_MSG (manual: reference/mongodb-wire-protocol). */
import { DocumentWriter, encode, findField, toRawValue } from '@shardlab/bson'
import type { Action } from '../../workload/action.js'
import type { Workload } from '../../workload/workload.js'

const opMsg = 2013
const headerBytes = 16
/** Header, flags, section kind. */
export const bodyStart = headerBytes + 5

/** The sender sets the request id. */
export function messageOf(body: Uint8Array): Buffer {
  const message = Buffer.allocUnsafe(bodyStart + body.length)
  message.writeInt32LE(message.length, 0)
  message.writeInt32LE(0, 4)
  message.writeInt32LE(0, 8)
  message.writeInt32LE(opMsg, 12)
  message.writeInt32LE(0, 16)
  message[20] = 0
  message.set(body, bodyStart)
  return message
}

/** To be sent one after another. @throws TypeError for a transaction, which needs a session */
export function messagesOf(workload: Workload, action: Action): Buffer[] {
  const { collection, database } = workload
  const command = (name: string, sizeHintBytes = 256): DocumentWriter =>
    new DocumentWriter(sizeHintBytes).string(name, collection)
  const finished = (writer: DocumentWriter): Buffer => messageOf(writer.string('$db', database).finish())
  switch (action.kind) {
    case 'find': {
      const writer = command('find').document('filter', documentBytes(action.filter))
      if (action.sort !== null) writer.document('sort', documentBytes(action.sort))
      if (action.limit > 0) writer.int32('limit', action.limit).bool('singleBatch', true)
      return [finished(writer)]
    }
    case 'count':
      return [finished(command('count').document('query', documentBytes(action.filter)))]
    case 'aggregate': {
      const writer = command('aggregate').documents(
        'pipeline',
        action.pipeline.map((stage) => encode(stage)),
      )
      return [finished(writer.startDocument('cursor').end())]
    }
    case 'insert': {
      const documents = action.documents.map(documentBytes)
      const writer = command(
        'insert',
        documents.reduce((sum, { length }) => sum + length + 8, 128),
      )
      return [finished(writer.bool('ordered', false).documents('documents', documents))]
    }
    case 'update': {
      const filter = documentBytes(action.filter)
      const writer = command('update', 2048).startArray('updates').startDocument('0').document('q', filter)
      writer.startDocument('u').document('$set', documentBytes(action.set)).end()
      if (action.upsert) writer.bool('upsert', true)
      const update = finished(writer.end().end())
      if (!action.readsFirst) return [update]
      return [finished(command('find').document('filter', filter).int32('limit', 1).bool('singleBatch', true)), update]
    }
    case 'transaction':
      throw new TypeError('the engine wire has no sessions')
  }
}

export function getMoreMessage({ collection, database }: Workload, cursorId: bigint): Buffer {
  return messageOf(
    new DocumentWriter(128)
      .int64('getMore', cursorId)
      .string('collection', collection)
      .string('$db', database)
      .finish(),
  )
}

/** For plain objects: the same bytes as the `bson` package, but faster. */
export function documentBytes(document: Readonly<Record<string, unknown>>): Uint8Array {
  const writer = new DocumentWriter(512)
  for (const name in document) {
    const value = document[name]
    if (typeof value === 'string') writer.string(name, value)
    else if (typeof value === 'number' && Number.isInteger(value) && value === (value | 0) && !Object.is(value, -0))
      writer.int32(name, value)
    else if (typeof value === 'number') writer.double(name, value)
    else if (typeof value === 'boolean') writer.bool(name, value)
    else if (value !== undefined) writer.value(name, toRawValue(value))
  }
  return writer.finish()
}

export interface Reply {
  readonly ok: boolean
  readonly code: number | null
  readonly codeName: string | null
  /** Of an insert, update or count. */
  readonly n: number
  /** Documents in the batch; -1: no cursor. */
  readonly batchLength: number
  readonly cursorId: bigint
  readonly writeErrors: readonly { readonly index: number; readonly code: number }[]
}

/** @param message a whole OP_MSG with one section */
export function readReply(message: Buffer): Reply {
  const start = bodyStart
  const number = (name: string): number => findField(message, name, start)?.asNumber() ?? Number.NaN
  const cursor = findField(message, 'cursor', start)
  let batchLength = -1
  let cursorId = 0n
  if (cursor !== undefined) {
    const batch = findField(message, 'firstBatch', cursor.start) ?? findField(message, 'nextBatch', cursor.start)
    batchLength = batch === undefined ? -1 : countElements(message, batch.start)
    const id = findField(message, 'id', cursor.start)
    cursorId = id === undefined ? 0n : id.asBigInt()
  }
  const ok = number('ok') === 1
  const failures = findField(message, 'writeErrors', start)
  return {
    ok,
    code: ok ? null : number('code'),
    codeName: ok ? null : (findField(message, 'codeName', start)?.asString() ?? null),
    n: number('n'),
    batchLength,
    cursorId,
    writeErrors: failures === undefined ? [] : writeErrorsOf(message, failures.start),
  }
}

function countElements(bytes: Buffer, start: number): number {
  const end = start + bytes.readInt32LE(start) - 1
  let count = 0
  // Elements are documents: type, name of digits, NUL, length.
  for (let at = start + 4; at < end; count++) {
    at = bytes.indexOf(0, at + 1) + 1
    at += bytes.readInt32LE(at)
  }
  return count
}

function writeErrorsOf(bytes: Buffer, start: number): { index: number; code: number }[] {
  const errors: { index: number; code: number }[] = []
  const end = start + bytes.readInt32LE(start) - 1
  for (let at = start + 4; at < end;) {
    at = bytes.indexOf(0, at + 1) + 1
    errors.push({
      index: findField(bytes, 'index', at)?.asNumber() ?? 0,
      code: findField(bytes, 'code', at)?.asNumber() ?? 0,
    })
    at += bytes.readInt32LE(at)
  }
  return errors
}
