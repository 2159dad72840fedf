/**
 * One change of a node's state. On the disk it is a BSON document with the fields, types and order
 * of an oplog entry since 5.1. An insert has `o2` only if its document key has more fields than
 * `_id`. Server: oplog_entry.idl.
 */
import {
  BsonType,
  documentValue,
  DocumentWriter,
  elementsOf,
  findField,
  firstFieldName,
  readUint32,
  type RawValue,
} from '@shardlab/bson'
import { compileDelta } from '@shardlab/query'

/** A position in the log. Within one log `ts` alone ascends. */
export interface OpTime {
  readonly ts: LogEntry['ts']
  readonly term: number
}

/** The term of entries that are written before the first election. They have no field `t`. */
export const uninitializedTerm = -1

/** `i` insert, `u` update, `d` delete, `c` command, `n` no-op. */
export type LogOperation = 'i' | 'u' | 'd' | 'c' | 'n'

export interface LogSession {
  readonly lsid: Uint8Array
  readonly txnNumber: bigint
  /** Empty: the entry belongs to a transaction. */
  readonly stmtIds: readonly number[]
  /** The document in the reply to a findAndModify, for a retry. Absent: the reply had none. */
  readonly image?: RetryImage
}

/** Server: `needsRetryImage` of an oplog entry, config.image_collection. */
export interface RetryImage {
  readonly kind: 'preImage' | 'postImage'
  readonly document: Uint8Array
}

export interface LogEntry {
  readonly ts: readonly [seconds: number, increment: number]
  /** Of the primary that made the change. */
  readonly term: number
  readonly op: LogOperation
  /** `db.collection`; `db.$cmd` for commands. */
  readonly ns: string
  /** Null: the entry does not concern a single collection. */
  readonly uuid: Uint8Array | null
  /** i: the document; u: the document after the change; d: `{_id}`; c: the command; n: anything. */
  readonly object: Uint8Array
  /** The `_id` of the document in u and d; otherwise null. */
  readonly id: RawValue | null
  readonly session: LogSession | null
  /** The previous change by the same retryable write. Absent: there is none. */
  readonly prevOpTime?: OpTime
  readonly wallMs: number
  /** u: the difference that the disk has in place of {@link object}, see `compileDelta`. */
  readonly difference: Uint8Array | null
  /**
   * i, u: the document key, if it has more fields than `_id`. c, n: what change streams report.
   * Written, and not needed to apply the entry.
   */
  readonly o2?: Uint8Array | undefined
  /** Change streams do not show the entry: it moves documents between shards. */
  readonly fromMigrate?: boolean | undefined
  /** Of an operation of a transaction: its number. Never encoded. */
  readonly applyOpsIndex?: number
  /** u, d: the document before the change. Never encoded. */
  readonly preImage?: Uint8Array
}

export function encodeLogEntry(entry: LogEntry): Uint8Array {
  const writer = new DocumentWriter(entry.object.length + 192)
  if (entry.session !== null) {
    writer.document('lsid', entry.session.lsid).int64('txnNumber', entry.session.txnNumber)
  }
  writeOperation(writer, entry)
  if (entry.session !== null) writeStatement(writer, entry.session)
  if (entry.fromMigrate === true) writer.bool('fromMigrate', true)
  writer.timestamp('ts', entry.ts[0], entry.ts[1])
  if (entry.term !== uninitializedTerm) writer.int64('t', entry.term)
  writer.int64('v', 2).date('wall', entry.wallMs)
  if (entry.session !== null) {
    const { ts, term } = entry.prevOpTime ?? noOpTime
    writer.startDocument('prevOpTime').timestamp('ts', ts[0], ts[1]).int64('t', term).end()
    const { image } = entry.session
    if (image?.kind === 'preImage') writer.document('preImage', image.document)
  }
  return writer.finish()
}

const noOpTime: OpTime = { ts: [0, 0], term: uninitializedTerm }

function writeStatement(writer: DocumentWriter, { stmtIds, image }: LogSession): void {
  if (image !== undefined) writer.string('needsRetryImage', image.kind)
  if (stmtIds.length === 0) return
  if (stmtIds.length === 1) writer.int32('stmtId', stmtIds[0]!)
  else {
    writer.startArray('stmtId')
    for (let i = 0; i < stmtIds.length; i++) writer.int32(String(i), stmtIds[i]!)
    writer.end()
  }
}

/** Appends to an operation of a transaction the statement of a retryable write that it executes. */
export function writeOperationStatement(writer: DocumentWriter, session: LogSession): DocumentWriter {
  writeStatement(writer, session)
  const { image } = session
  return image === undefined ? writer : writer.document(image.kind, image.document)
}

/** What {@link writeOperationStatement} has written; no ids: nothing. */
export function statementOfOperation(operation: Uint8Array): Pick<LogSession, 'stmtIds' | 'image'> {
  const stmtIds = stmtIdsOf(findField(operation, 'stmtId'))
  const kind = findField(operation, 'needsRetryImage')?.asString() as RetryImage['kind'] | undefined
  return kind === undefined ? { stmtIds } : { stmtIds, image: { kind, document: required(operation, kind).slice() } }
}

/**
 * @param stored the document that an update changes
 * @throws Error if the bytes are not a log entry, or if it changes a document that does not exist
 */
export function decodeLogEntry(
  bytes: Uint8Array,
  stored: (ns: string, id: RawValue) => Uint8Array | undefined,
): LogEntry {
  const operation = decodeOperation(bytes, stored)
  const fromMigrate = findField(bytes, 'fromMigrate')?.isTruthy()
  return {
    ...opTimeOf(bytes),
    ...operation,
    ...(fromMigrate === undefined ? {} : { fromMigrate }),
    session: decodeSession(bytes, operation.object),
    ...decodePrevOpTime(bytes),
    wallMs: Number(required(bytes, 'wall').asBigInt()),
  }
}

/** What an entry, or an operation of a transaction, changes. */
export type LogOperationFields = Pick<LogEntry, 'op' | 'ns' | 'uuid' | 'object' | 'id' | 'difference' | 'o2'>

/** @param stored and errors as of {@link decodeLogEntry} */
export function decodeOperation(
  bytes: Uint8Array,
  stored: (ns: string, id: RawValue) => Uint8Array | undefined,
): LogOperationFields {
  const op = required(bytes, 'op').asString() as LogOperation
  const logged = required(bytes, 'o')
  const difference = op === 'u' ? differenceIn(logged.slice()) : null
  const object = difference === null ? logged.slice() : changed(bytes, difference, stored)
  const ui = findField(bytes, 'ui')
  const idSource = op === 'u' ? findField(bytes, 'o2')?.slice() : op === 'd' ? object : undefined
  return {
    op,
    ns: required(bytes, 'ns').asString(),
    uuid: ui === undefined ? null : ui.asBinary(),
    object,
    id: (idSource === undefined ? undefined : findField(idSource, '_id')) ?? null,
    difference,
  }
}

/** As `op`, `ns`, `ui`, `o`, `o2` of an entry. */
export function writeOperation(
  writer: DocumentWriter,
  { op, ns, uuid, object, id, difference, o2 }: LogOperationFields,
): DocumentWriter {
  writer.string('op', op).string('ns', ns)
  if (uuid !== null) writer.uuid('ui', uuid)
  if (difference === null) writer.document('o', object)
  else writer.startDocument('o').int32('$v', 2).document('diff', difference).end()
  if (o2 !== undefined) writer.document('o2', o2)
  else if (op === 'u' && id !== null) writer.startDocument('o2').value('_id', id).end()
  return writer
}

/** @param start of the entry */
export function opTimeOf(bytes: Uint8Array, start = 0): OpTime {
  const ts = findField(bytes, 'ts', start)
  if (ts === undefined) throw new Error('not a log entry: no field ts')
  return {
    ts: [readUint32(ts.bytes, ts.start + 4), readUint32(ts.bytes, ts.start)],
    term: findField(bytes, 't', start)?.asNumber() ?? uninitializedTerm,
  }
}

function decodePrevOpTime(bytes: Uint8Array): Pick<LogEntry, 'prevOpTime'> {
  const value = findField(bytes, 'prevOpTime')
  if (value === undefined) return {}
  const prevOpTime = opTimeOf(value.bytes, value.start)
  return prevOpTime.term === uninitializedTerm ? {} : { prevOpTime }
}

/** A stored document begins with another field: an update keeps the position of `_id`. */
function differenceIn(object: Uint8Array): Uint8Array | null {
  return firstFieldName(object) === '$v' ? (findField(object, 'diff')?.slice() ?? null) : null
}

function changed(
  bytes: Uint8Array,
  difference: Uint8Array,
  stored: (ns: string, id: RawValue) => Uint8Array | undefined,
): Uint8Array {
  const ns = required(bytes, 'ns').asString()
  const before = stored(ns, required(required(bytes, 'o2').slice(), '_id'))
  if (before === undefined) throw new Error(`log entry changes a document that ${ns} does not have`)
  return compileDelta(documentValue(difference)).apply(before) ?? before
}

function decodeSession(bytes: Uint8Array, object: Uint8Array): LogSession | null {
  const lsid = findField(bytes, 'lsid')
  if (lsid === undefined) return null
  return {
    lsid: lsid.slice(),
    txnNumber: required(bytes, 'txnNumber').asBigInt(),
    stmtIds: stmtIdsOf(findField(bytes, 'stmtId')),
    ...decodeImage(bytes, object),
  }
}

function stmtIdsOf(value: RawValue | undefined): readonly number[] {
  if (value === undefined) return []
  return value.type === BsonType.array ? elementsOf(value).map((each) => each.asNumber()) : [value.asNumber()]
}

function decodeImage(bytes: Uint8Array, object: Uint8Array): { image?: RetryImage } {
  const kind = findField(bytes, 'needsRetryImage')?.asString() as RetryImage['kind'] | undefined
  if (kind === undefined) return {}
  return { image: { kind, document: kind === 'postImage' ? object : required(bytes, 'preImage').slice() } }
}

function required(bytes: Uint8Array, name: string): RawValue {
  const value = findField(bytes, name)
  if (value === undefined) throw new Error(`not a log entry: no field ${name}`)
  return value
}
