/**
 * What a server of 7.0 answers to a stream of bytes, written without the packages under test from
 * the server's op_msg.cpp, dbmessage.cpp, metadata.cpp, message_compressor_manager.cpp,
 * session_workflow.cpp and service_entry_point.
 */
import { inflateSync } from 'node:zlib'
import { uncompressSync } from 'snappy'
import { BsonViolation, endOfDocument, fieldsOf, type Field } from './bson-rules.js'
import { checksumOf } from './checksum.js'

/** What a valid message asks for. */
export interface Command {
  /** The name of its first field. */
  readonly name: string
  readonly db: string
  /** The names of all its fields. */
  readonly fields: readonly string[]
}

/** A reply, and the form that it has. */
export interface Answer {
  readonly requestId: number
  /** A command: the message is valid, and its command determines the reply. */
  readonly reply: { readonly code: number } | Command | 'removed operation'
  readonly legacy: boolean
  readonly checksum: boolean
  readonly compressor: number | null
}

export interface StreamAnswers {
  readonly answers: readonly Answer[]
  /** `closed`: by the server. `waiting`: for the rest of a message. */
  readonly end: 'open' | 'closed' | 'waiting'
  /** Sent before the connection is closed. */
  readonly http: boolean
}

/** The connection is closed without a reply. */
const closed = new Error('closed')

/** The reply is an error. */
class Refused extends Error {
  readonly code: number

  private constructor(code: number) {
    super(`error ${code}`)
    this.code = code
  }

  static readonly #known = new Map<number, Refused>()

  // One for each message would record a stack each time, which takes longer than all rules.
  static with(code: number): Refused {
    let refused = this.#known.get(code)
    if (refused === undefined) this.#known.set(code, (refused = new Refused(code)))
    return refused
  }
}

const lengthMax = 48_000_000
const documentMax = 16 * 1024 * 1024 + 16 * 1024
const opcode = { update: 2001, insert: 2002, query: 2004, getMore: 2005, delete: 2006, compressed: 2012, msg: 2013 }

export function answersTo(stream: Buffer): StreamAnswers {
  const answers: Answer[] = []
  for (let at = 0; at < stream.length;) {
    if (stream.length - at < 4) return { answers, end: 'waiting', http: false }
    const length = stream.readInt32LE(at)
    if (length < 16 || length > lengthMax)
      return { answers, end: 'closed', http: stream.toString('latin1', at, at + 4) === 'GET ' }
    if (stream.length - at < length) return { answers, end: 'waiting', http: false }
    try {
      const answer = answerTo(stream.subarray(at, at + length))
      if (answer !== null) answers.push(answer)
    } catch (error) {
      if (error !== closed) throw error
      return { answers, end: 'closed', http: false }
    }
    at += length
  }
  return { answers, end: 'open', http: false }
}

/** null: no reply. */
function answerTo(frame: Buffer): Answer | null {
  const { message, compressor } = uncompressed(frame)
  const code = message.readInt32LE(12)
  const requestId = message.readInt32LE(4)
  if (code === opcode.msg) return answerToMsg(message, compressor)
  if (code !== opcode.query && code !== opcode.getMore) throw closed
  // The namespace is read before anything else, whatever the operation.
  const form = { requestId, legacy: true, checksum: false, compressor }
  const namespaceEnd = message.indexOf(0, 20)
  if (message.length < 20 || namespaceEnd < 0) throw closed
  const namespace = message.toString('latin1', 20, namespaceEnd)
  if (code === opcode.getMore || !/^[^.]*\.\$cmd$/s.test(namespace)) return { ...form, reply: 'removed operation' }
  return { ...form, reply: replyOf(() => commandOfQuery(message, namespace, namespaceEnd + 1)) }
}

function replyOf(read: () => Command): Answer['reply'] {
  try {
    return read()
  } catch (error) {
    if (error instanceof Refused || error instanceof BsonViolation) return { code: error.code }
    throw error
  }
}

function uncompressed(frame: Buffer): { message: Buffer; compressor: number | null } {
  if (frame.readInt32LE(12) !== opcode.compressed) return { message: frame, compressor: null }
  if (frame.length < 25) throw closed
  const size = frame.readInt32LE(20)
  const compressor = frame[24]!
  // A server offers snappy, zstd and zlib; this one lacks zstd.
  if ((compressor !== 1 && compressor !== 2) || size < 0 || size + 16 > lengthMax) throw closed
  const data = frame.subarray(25)
  let content: Buffer
  try {
    content =
      compressor === 1 ? (uncompressSync(data) as Buffer) : inflateSync(data, { maxOutputLength: Math.max(1, size) })
  } catch {
    throw closed
  }
  if (content.length !== size) throw closed
  const message = Buffer.concat([frame.subarray(0, 16), content])
  message.writeInt32LE(message.length, 0)
  message.writeInt32LE(frame.readInt32LE(16), 12)
  if (message.readInt32LE(12) === opcode.compressed) throw closed
  return { message, compressor }
}

function answerToMsg(message: Buffer, compressor: number | null): Answer | null {
  if (message.length < 20) throw closed
  const flags = message.readUInt32LE(16)
  if ((flags & 0xfffc) !== 0) throw closed
  const checksum = (flags & 1) !== 0
  const reply = replyOf(() => commandOfMsg(message, checksum))
  if ((flags & 2) !== 0) return null
  return { requestId: message.readInt32LE(4), legacy: false, checksum, compressor, reply }
}

function commandOfMsg(message: Buffer, checksum: boolean): Command {
  if (checksum && message.length <= 24) throw Refused.with(51252)
  const end = checksum ? message.length - 4 : message.length
  let body: Buffer | null = null
  const sequences: string[] = []
  for (let at = 20; at < end;) {
    const kind = message[at++]!
    if (kind === 0) {
      if (body !== null) throw Refused.with(40430)
      const bodyEnd = endOfDocument(message, at, end)
      if (bodyEnd - at > documentMax) throw Refused.with(10334)
      body = message.subarray(at, bodyEnd)
      at = bodyEnd
    } else if (kind === 1) {
      if (sequences.length === 2) throw closed
      const size = end - at < 4 ? 0 : message.readInt32LE(at)
      if (size < 4 || size > end - at) throw Refused.with(15)
      const sequence = message.subarray(at + 4, at + size)
      const nameEnd = sequence.indexOf(0)
      if (nameEnd < 0) throw Refused.with(15)
      const name = sequence.toString('latin1', 0, nameEnd)
      if (sequences.includes(name)) throw Refused.with(40431)
      sequences.push(name)
      for (let from = nameEnd + 1; from < sequence.length;) from = endOfDocument(sequence, from, sequence.length)
      at += size
    } else throw Refused.with(kind === 2 ? 13 : 40432)
  }
  if (body === null) throw Refused.with(40587)
  if (sequences.some((name) => hasPath(body!, 0, name))) throw Refused.with(40433)
  if (checksum && message.readUInt32LE(end) !== checksumOf(message.subarray(0, end))) throw closed
  const fields = fieldsOf(body)
  const db = fields.find(({ name }) => name === '$db')
  if (db === undefined) throw Refused.with(40571)
  if (db.type !== 0x02) throw Refused.with(13111)
  return { name: fields[0]!.name, db: textAt(body, db.at), fields: fields.map(({ name }) => name) }
}

const textAt = (bytes: Buffer, at: number): string => bytes.toString('latin1', at + 4, at + 3 + bytes.readInt32LE(at))

/** Whether the document at `start` has the dotted path, or an array on it. */
function hasPath(bytes: Buffer, start: number, path: string): boolean {
  const dot = path.indexOf('.')
  const first = dot < 0 ? path : path.slice(0, dot)
  const rest = dot < 0 ? '' : path.slice(dot + 1)
  const field = fieldsOf(bytes, start).find(({ name }) => name === first)
  if (field === undefined) return false
  if (field.type === 0x04 || rest === '') return true
  return field.type === 0x03 && hasPath(bytes, field.at, rest)
}

function commandOfQuery(message: Buffer, namespace: string, at: number): Command {
  if (message.length < at + 8) throw Refused.with(18634)
  const numberToReturn = message.readInt32LE(at + 4)
  const queryEnd = endOfQuery(message, at + 8)
  if (queryEnd < message.length) endOfQuery(message, queryEnd)
  if ((message.readInt32LE(16) & 64) !== 0) throw Refused.with(18527)
  if (Math.abs(numberToReturn) !== 1) throw Refused.with(16979)
  const query = message.subarray(at + 8, queryEnd)
  let fields = fieldsOf(query)
  const has = (wanted: string): boolean => fields.some(({ name }) => name === wanted)
  const first = fields[0]
  if (first?.name === '$query' || first?.name === 'query') {
    if (has('$maxTimeMS')) throw Refused.with(72)
    fields = fieldsOf(query, documentAt(first))
  } else {
    const options = fields.find(({ name }) => name === '$queryOptions')
    if (options !== undefined) documentAt(options)
  }
  if (has('$db')) throw Refused.with(40621)
  return {
    name: fields[0]?.name ?? '$db',
    db: namespace.slice(0, namespace.indexOf('.')),
    fields: fields.map(({ name }) => name),
  }
}

function documentAt({ type, at }: Field): number {
  if (type !== 0x03 && type !== 0x04) throw Refused.with(10065)
  return at
}

/** Every error of a document in an OP_QUERY has the same code. */
function endOfQuery(message: Buffer, at: number): number {
  let end: number
  try {
    end = endOfDocument(message, at, message.length)
  } catch (error) {
    if (error instanceof BsonViolation) throw Refused.with(22)
    throw error
  }
  if (end - at > documentMax) throw Refused.with(10334)
  return end
}
