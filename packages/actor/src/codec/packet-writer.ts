import type { MessageKind, ReplyOf, RequestOf } from '../catalogue/index.js'
import { kindShape, type KindShape } from './kinds.js'
import { packetTypes, UnpackableValueError, type FailurePayload, type PacketType } from './packet.js'
import { unzeroed } from '../unzeroed.js'
import { ValueWriter } from './value-writer.js'

const headerRoomBytes = 5
const largestKeptBytes = 1024 * 1024

/** How strictly a {@link PacketWriter} looks at what it packs. */
export interface PacketWriterOptions {
  /** Also refuses a field that the exchange does not have, which would be lost on the way. Default false. */
  readonly checked?: boolean
  /** Small packets are parts of larger buffers, which spares making one for each: they cannot be transferred. Default false. */
  readonly pooled?: boolean
}

/** Of those who write nothing at the moment. Most ways between members of a large cluster are quiet. */
const spareWriters: ValueWriter[] = []
const spareWritersMax = 64

const slabBytes = 64 * 1024
const largestPooledBytes = 16 * 1024

/**
 * Collects messages into one packet: a msgpack array of {@link MessageTuple}s, each packed as soon as it is added, so
 * that what the sender does to its objects later does not reach the receiver. No state outlives a packet.
 *
 * Every method that adds a message throws {@link UnpackableValueError} for a value that may not travel (undefined, a
 * function, a bigint, a number that is no safe integer, any object but arrays and byte arrays); the packet is then
 * as it was before. A negative zero arrives as zero.
 */
export class PacketWriter {
  /** Null while nothing has been collected. */
  #open: ValueWriter | null = null
  readonly #checked: boolean
  readonly #pooled: boolean
  #messageCount = 0

  constructor(options: PacketWriterOptions = {}) {
    this.#checked = options.checked ?? false
    this.#pooled = options.pooled ?? false
  }

  get messageCount(): number {
    return this.#messageCount
  }

  /** Bytes collected so far. */
  get sizeBytes(): number {
    return this.#open === null ? 0 : this.#open.length - headerRoomBytes
  }

  addRequest<K extends MessageKind>(id: number, to: number, from: number, kind: K, request: RequestOf<K>): void {
    this.#addRecord(packetTypes.request, id, to, from, kindShape(kind), request)
  }

  addNotice<K extends MessageKind>(to: number, from: number, kind: K, request: RequestOf<K>): void {
    this.#addRecord(packetTypes.notice, 0, to, from, kindShape(kind), request)
  }

  addReply<K extends MessageKind>(id: number, to: number, from: number, kind: K, reply: ReplyOf<K>): void {
    this.#addRecord(packetTypes.reply, id, to, from, kindShape(kind), reply)
  }

  addFailure(id: number, to: number, from: number, kind: MessageKind, payload: FailurePayload): void {
    this.#addHead(packetTypes.failure, id, to, from, kindShape(kind).index)
    this.#writer.value(payload)
    this.#messageCount++
  }

  addBroken(to: number, from: number, why: string): void {
    this.#addHead(packetTypes.broken, 0, to, from, 0)
    this.#writer.value([why])
    this.#messageCount++
  }

  /** The packet, unless {@link PacketWriterOptions.pooled} in a buffer of exactly its size, ready to be transferred; the writer is empty again. */
  take(): Uint8Array<ArrayBuffer> {
    const writer = this.#writer
    const start = writer.arrayHeaderEndingAt(headerRoomBytes, this.#messageCount)
    const packet = this.#pooled && writer.length <= largestPooledBytes ? pooledCopy(writer, start) : writer.copy(start)
    this.#messageCount = 0
    writer.reset(largestKeptBytes)
    this.#open = null
    if (spareWriters.length < spareWritersMax) spareWriters.push(writer)
    return packet
  }

  get #writer(): ValueWriter {
    return (this.#open ??= openWriter())
  }

  #addHead(type: PacketType, id: number, to: number, from: number, kindIndex: number): void {
    const writer = this.#writer
    writer.arrayHeader(6)
    writer.uint32(type)
    writer.value(id)
    writer.uint32(to)
    writer.uint32(from)
    writer.uint32(kindIndex)
  }

  #addRecord(type: PacketType, id: number, to: number, from: number, shape: KindShape, sent: unknown): void {
    const isReply = type === packetTypes.reply
    const record = recordOf(sent, shape, type)
    const fields = isReply ? shape.replyFields : shape.requestFields
    const write = isReply ? shape.writeReply : shape.writeRequest
    const writer = this.#writer
    const start = writer.length
    this.#addHead(type, id, to, from, shape.index)
    writer.arrayHeader(fields.length)
    let refused: number
    try {
      refused = write(writer, record)
    } catch (error) {
      writer.truncate(start)
      throw error
    }
    if (refused >= 0) {
      const field = fields[refused]!
      this.#refuse(start, type, shape, field, writer.value(record[field]) ?? 'a value')
    }
    if (this.#checked && fieldCount(record) !== fields.length && Object.keys(record).length !== fields.length) {
      const stranger = Object.keys(record).find((key) => !fields.includes(key))
      this.#refuse(start, type, shape, stranger ?? '', 'a field that the exchange does not have')
    }
    this.#messageCount++
  }

  #refuse(start: number, type: PacketType, shape: KindShape, field: string, refusal: string): never {
    this.#writer.truncate(start)
    throw new UnpackableValueError(`${pathOf(shape, type)}.${field}`, refusal)
  }
}

function pathOf({ kind }: KindShape, type: PacketType): string {
  return `${kind} ${type === packetTypes.reply ? 'reply' : 'request'}`
}

/** Looked at before anything is written. */
function recordOf(sent: unknown, shape: KindShape, type: PacketType): Readonly<Record<string, unknown>> {
  if (typeof sent === 'object' && sent !== null) return sent as Record<string, unknown>
  throw new UnpackableValueError(pathOf(shape, type), String(sent))
}

/** Without a list of their names for each message; with those that it inherits. */
function fieldCount(record: object): number {
  let count = 0
  for (const _ in record) count++
  return count
}

function openWriter(): ValueWriter {
  const writer = spareWriters.pop() ?? new ValueWriter()
  writer.skip(headerRoomBytes)
  return writer
}

let slab = unzeroed(0)
let slabUsed = 0

function pooledCopy(writer: ValueWriter, start: number): Uint8Array<ArrayBuffer> {
  const length = writer.length - start
  if (slabUsed + length > slab.length) {
    slab = unzeroed(slabBytes)
    slabUsed = 0
  }
  const packet = new Uint8Array(slab.buffer, slabUsed, length)
  writer.copyTo(packet, start)
  slabUsed += length
  return packet
}
