/**
 * Resume tokens of change streams: `{ _data: hex, _typeBits? }`. The order of their hex texts is
 * the order of events. Server: resume_token.cpp.
 */
import type { TimestampPair } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField, ServerKeyReader, ServerKeyString } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'

export type TokenVersion = 0 | 1 | 2

export interface ResumeToken {
  /** `_data` without the number of a fragment. */
  readonly hex: string
  readonly typeBits: Uint8Array | null
}

/** A token that a client sent. */
export interface ParsedToken extends ResumeToken {
  readonly clusterTime: TimestampPair
  readonly version: TokenVersion
  /** It stands for a time, before all events of that time. */
  readonly isHighWaterMark: boolean
  readonly txnOpIndex: number
  readonly fromInvalidate: boolean
  readonly hasUuid: boolean
  /** Of a large event that was split; null: the token stands for a whole event. */
  readonly fragmentNum: number | null
}

export interface EventPosition {
  readonly clusterTime: TimestampPair
  readonly version: TokenVersion
  /** Within a transaction. */
  readonly txnOpIndex: number
  readonly fromInvalidate: boolean
  /** Null: the event concerns no collection. */
  readonly uuid: Uint8Array | null
  /** A document. Null: the event concerns no document or definition. */
  readonly identifier: Uint8Array | null
}

const eventType = 128
const highWaterMarkType = 0

export function eventToken(position: EventPosition): ResumeToken {
  const { version, txnOpIndex, fromInvalidate, uuid, identifier } = position
  const key = headOf(position.clusterTime, version, eventType, txnOpIndex, fromInvalidate)
  if (uuid !== null) key.uuid(uuid)
  else if (version >= 2) key.null()
  if (identifier !== null) key.document(identifier)
  return { hex: key.hex(), typeBits: key.typeBits.bytes() }
}

export function highWaterMark(clusterTime: TimestampPair, version: TokenVersion): ResumeToken {
  const key = headOf(clusterTime, version, highWaterMarkType, 0, false)
  if (version >= 2) key.null()
  return { hex: key.hex(), typeBits: null }
}

function headOf(
  [seconds, increment]: TimestampPair,
  version: TokenVersion,
  type: number,
  txnOpIndex: number,
  fromInvalidate: boolean,
): ServerKeyString {
  const key = new ServerKeyString().timestamp(seconds, increment).integer(version)
  if (version >= 1) key.integer(type)
  key.integer(txnOpIndex)
  return version >= 1 ? key.bool(fromInvalidate) : key
}

/** @param fragmentNum of a large event that was split */
export function tokenDocument({ hex, typeBits }: ResumeToken, fragmentNum: number | null = null): Uint8Array {
  const writer = new DocumentWriter(hex.length + 64)
  if (fragmentNum === null) writer.string('_data', hex)
  else writer.string('_data', hex.slice(0, -2) + new ServerKeyString().integer(fragmentNum).hex())
  return typeBits === null ? writer.finish() : writer.binary('_typeBits', 0, typeBits).finish()
}

/** Of a whole event, from its {@link tokenDocument}. */
export function tokenIn(document: Uint8Array): ResumeToken {
  const typeBits = findField(document, '_typeBits')
  return { hex: tokenText(document), typeBits: typeBits === undefined ? null : new Uint8Array(typeBits.asBinary()) }
}

/** The hex text of a {@link tokenDocument}. */
export function tokenText(document: Uint8Array, start = 0): string {
  return findField(document, '_data', start)!.asString()
}

/** The cluster time of a token's hex text. */
export function tokenTime(hex: string): TimestampPair {
  return [Number.parseInt(hex.slice(2, 10), 16), Number.parseInt(hex.slice(10, 18), 16)]
}

/** @throws CommandError 40647, 40648, 9 FailedToParse, 40649 and others for bad parts */
export function parseToken(document: Uint8Array): ParsedToken {
  const data = findField(document, '_data')
  const typeBits = findField(document, '_typeBits')
  if (data?.type !== BsonType.string)
    throw new CommandError(
      40647,
      `Bad resume token: _data of missing or of wrong type. Expected string, got ${formatDocument(document)}`,
    )
  if (typeBits !== undefined && (typeBits.type !== BsonType.binary || typeBits.bytes[typeBits.start + 4] !== 0))
    throw new CommandError(40648, `Bad resume token: _typeBits of wrong type ${formatDocument(document)}`)
  const text = data.asString()
  if (text.length % 2 === 1 || !/^[0-9A-Fa-f]*$/.test(text))
    throw new CommandError('FailedToParse', 'resume token string was not a valid hex string')
  const hex = text.toUpperCase()
  const reader = new ServerKeyReader(Buffer.from(hex, 'hex'))
  if (!reader.hasMore) throw new CommandError(40649, 'invalid empty resume token')
  return { ...parse(reader, hex), typeBits: typeBits === undefined ? null : new Uint8Array(typeBits.asBinary()) }
}

function parse(reader: ServerKeyReader, hex: string): Omit<ParsedToken, 'typeBits'> {
  const clusterTime = reader.isNext(BsonType.timestamp) ? reader.timestamp() : ([0, 0] as const)
  const version = versionIn(reader)
  const type = version === 0 ? eventType : typeIn(reader)
  const txnOpIndex = indexIn(reader)
  const fromInvalidate = version === 0 ? false : invalidateIn(reader)
  const isHighWaterMark = type === highWaterMarkType
  const head = { clusterTime, version, isHighWaterMark, txnOpIndex, fromInvalidate, hex, fragmentNum: null }
  if (!reader.hasMore) {
    if (version >= 2) throw new CommandError(6189500, 'Expected UUID or null')
    return { ...head, hasUuid: false }
  }
  const hasUuid = !reader.isNext(BsonType.null)
  if (hasUuid && !reader.isNext(BsonType.binary))
    throw new CommandError('InvalidUUID', 'The UUID must be a BinData value of subtype 4')
  reader.skip()
  if (isHighWaterMark && reader.hasMore) throw new CommandError(6189504, 'Invalid high water mark token')
  if (!reader.hasMore) {
    if (!isHighWaterMark && version >= 2)
      throw new CommandError(6189501, 'Expected an eventIdentifier for an event resume token')
    return { ...head, hasUuid }
  }
  if (!reader.isNext(BsonType.object)) throw new CommandError(6189503, 'Resume Token eventIdentifier is not an object')
  reader.skip()
  const fragmentAt = reader.at
  const fragmentNum = version >= 2 && reader.hasMore ? fragmentIn(reader) : null
  if (reader.hasMore) throw new CommandError(40646, 'invalid oversized resume token')
  return { ...head, hasUuid, fragmentNum, hex: fragmentNum === null ? hex : `${hex.slice(0, 2 * fragmentAt)}04` }
}

function versionIn(reader: ServerKeyReader): TokenVersion {
  if (!reader.hasMore) throw new CommandError(50796, 'Resume Token does not contain version')
  if (!reader.isInteger) throw new CommandError(50854, 'Invalid resume token: wrong type for version')
  const version = reader.integer()
  if (version === 0 || version === 1 || version === 2) return version
  throw new CommandError(50795, 'Invalid Resume Token: only supports version 0, 1 and 2')
}

function typeIn(reader: ServerKeyReader): number {
  if (!reader.hasMore) throw new CommandError(51055, 'Resume Token does not contain tokenType')
  if (!reader.isInteger) throw new CommandError(51056, 'Resume Token tokenType is not an int.')
  const type = reader.integer()
  if (type === eventType || type === highWaterMarkType) return type
  throw new CommandError(51057, `Token type ${type} not recognized`)
}

function indexIn(reader: ServerKeyReader): number {
  if (!reader.hasMore) throw new CommandError(50793, 'Resume Token does not contain txnOpIndex')
  if (!reader.isInteger) throw new CommandError(50855, 'Resume Token txnOpIndex is not an integer')
  const index = reader.integer()
  if (index < 0) throw new CommandError(50794, 'Invalid Resume Token: txnOpIndex should be non-negative')
  return index
}

function invalidateIn(reader: ServerKeyReader): boolean {
  if (!reader.hasMore) throw new CommandError(50872, 'Resume Token does not contain fromInvalidate')
  if (!reader.isNext(BsonType.bool)) throw new CommandError(50870, 'Resume Token fromInvalidate is not a boolean.')
  return reader.bool()
}

function fragmentIn(reader: ServerKeyReader): number {
  const fragmentNum = reader.isInteger ? reader.integer() : -1
  if (fragmentNum < 0) throw new CommandError(7182501, "Resume token 'fragmentNum' must be a non-negative integer.")
  return fragmentNum
}
