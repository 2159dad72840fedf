import { BsonType, CommandError, findField, readInt32, readUint32, readUtf8, typeName } from '@shardlab/bson'
import { MsgFlag } from './constants.js'
import { crc32c } from './crc32c.js'
import { checkDocument } from './document-check.js'
import { ProtocolError } from './errors.js'
import type { DocumentSequence } from './request.js'

const unknownRequiredFlags = 0xffff & ~(MsgFlag.checksumPresent | MsgFlag.moreToCome)
const flagsAt = 16
const sectionsAt = 20
const checksumSize = 4
/** The kind of a section that only a server for several tenants accepts. */
const securityToken = 2
/** The server's limit, reached by `bulkWrite` with `ops` and `nsInfo`. */
const maxSequences = 2

export interface MsgSections {
  readonly body: Uint8Array
  readonly sequences: readonly DocumentSequence[]
}

const noSequences: readonly DocumentSequence[] = []

/**
 * @throws {@link ProtocolError} when the flag bits are missing, and 223 for unknown required bits
 */
export function msgFlags(message: Uint8Array): number {
  if (message.length < sectionsAt) throw new ProtocolError('Overflow', 'OP_MSG without flag bits')
  const flags = readUint32(message, flagsAt)
  if ((flags & unknownRequiredFlags) !== 0) {
    throw new ProtocolError(
      'IllegalOpMsgFlag',
      `Message contains illegal flags value: Ob${flags.toString(2).padStart(32, '0')}`,
    )
  }
  return flags
}

/**
 * Sections may have any order. The checks, their order and their codes are those of the server's
 * `OpMsg::parse`.
 * @throws {@link ProtocolError} 233 (more than two sequences) and 288 (wrong checksum), which close
 *   the connection
 * @throws {@link CommandError} for all other errors, which are answered
 */
export function readSections(message: Uint8Array, flags: number): MsgSections {
  const hasChecksum = (flags & MsgFlag.checksumPresent) !== 0
  if (hasChecksum && message.length <= sectionsAt + checksumSize) {
    throw new CommandError(51252, 'Invalid message size for an OpMsg containing a checksum')
  }
  const end = hasChecksum ? message.length - checksumSize : message.length
  let body: Uint8Array | null = null
  let sequences = noSequences
  let at = sectionsAt
  while (at < end) {
    const kind = message[at++]!
    if (kind === 0) {
      if (body !== null) throw new CommandError(40430, 'Multiple body sections in message')
      const bodyEnd = checkDocument(message, at, end)
      body = message.subarray(at, bodyEnd)
      at = bodyEnd
    } else if (kind === 1) {
      if (sequences.length === maxSequences)
        throw new ProtocolError('TooManyDocumentSequences', 'Too many document sequences in OP_MSG')
      const size = end - at >= 4 ? readInt32(message, at) : -1
      if (size < 4 || size > end - at)
        throw new CommandError('Overflow', `Invalid advance (${size}) past end of buffer[${end - at}] at offset: ${at}`)
      const sequence = readSequence(message, at + 4, at + size)
      if (sequences.some(([identifier]) => identifier === sequence[0])) {
        throw new CommandError(40431, `Duplicate document sequence: ${sequence[0]}`)
      }
      sequences = [...sequences, sequence]
      at += size
    } else if (kind === securityToken) {
      throw new CommandError('Unauthorized', 'Unsupported Security Token provided')
    } else {
      throw new CommandError(40432, `Unknown section kind ${kind}`)
    }
  }
  if (body === null) throw new CommandError(40587, 'OP_MSG messages must have a body')
  for (const [identifier] of sequences) {
    if (hasPath(body, identifier)) {
      throw new CommandError(40433, `Duplicate field between body and document sequence ${identifier}`)
    }
  }
  if (hasChecksum && readUint32(message, end) !== crc32c(message, 0, end)) {
    throw new ProtocolError('ChecksumMismatch', 'OP_MSG checksum does not match contents')
  }
  return { body, sequences }
}

/** Whether the document has the dotted path, or an array on it. */
function hasPath(document: Uint8Array, path: string): boolean {
  const dot = path.indexOf('.')
  const field = findField(document, dot < 0 ? path : path.slice(0, dot))
  if (field === undefined) return false
  const rest = dot < 0 ? '' : path.slice(dot + 1)
  if (rest === '' || field.type === BsonType.array) return true
  return field.type === BsonType.object && hasPath(field.slice(), rest)
}

/** @throws {@link CommandError} 40571 without `$db`, 13111 when it is not a string */
export function checkDatabaseField(body: Uint8Array): void {
  const db = findField(body, '$db')
  if (db === undefined) throw new CommandError(40571, 'OP_MSG requests require a $db argument')
  if (db.type !== BsonType.string)
    throw new CommandError(13111, `wrong type for field ($db) ${typeName(db.type)} != string`)
}

function readSequence(message: Uint8Array, start: number, end: number): DocumentSequence {
  let nameEnd = start
  while (nameEnd < end && message[nameEnd] !== 0) nameEnd++
  if (nameEnd === end)
    throw new CommandError('Overflow', `couldn't locate terminal char (\\0) in buffer[${end - start}] at offset: 0`)
  const documents: Uint8Array[] = []
  for (let at = nameEnd + 1; at < end;) {
    const documentEnd = checkDocument(message, at, end)
    documents.push(message.subarray(at, documentEnd))
    at = documentEnd
  }
  return [readUtf8(message, start, nameEnd), documents]
}
