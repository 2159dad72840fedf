import type { MessageKind, ReplyOf, RequestOf } from '../catalogue/index.js'
import { kindShape, type KindShape } from './kinds.js'
import { packetTypes, UnpackableValueError, type FailurePayload, type Packet, type PacketType } from './packet.js'
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

const pageBytes = 64 * 1024
const largestPooledBytes = 16 * 1024
/** Most packets are one message: it is written where it stays. */
const page = new ValueWriter(pageBytes)

/**
 * Collects messages into one packet: a msgpack array of {@link MessageTuple}s, each packed as soon as it is added, so
 * that what the sender does to its objects later does not reach the receiver. No state outlives a packet.
 *
 * Every method that adds a message throws {@link UnpackableValueError} for a value that may not travel (undefined, a
 * function, a bigint, a number that is no safe integer, any object but arrays and byte arrays); the packet is then
 * as it was before. A negative zero arrives as zero.
 */
export class PacketWriter {
  /** Who wrote on the page last, and has not taken it. */
  static #pageOwner: PacketWriter | null = null
  /** Null while nothing has been collected, or no more since somebody else writes on the page. */
  #open: ValueWriter | null = null
  /** The packet as it was when somebody else began to write on the page. */
  #left: Packet | null = null
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
    if (this.#open !== null) return this.#open.length - headerRoomBytes
    return this.#left === null ? 0 : this.#left.end - this.#left.start - arrayHeaderBytes(this.#messageCount)
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
    const { bytes, start, end } = this.takeInPlace()
    return end - start === bytes.length ? bytes : bytes.subarray(start, end)
  }

  /** The same for those who read it in this thread, without a view on it. */
  takeInPlace(): Packet {
    const packet = this.#left ?? this.#close()
    this.#left = null
    this.#messageCount = 0
    return packet
  }

  get #writer(): ValueWriter {
    return this.#open ?? (this.#open = this.#pooled && this.#left === null ? this.#turnPage() : this.#openOwn())
  }

  /** Whoever wrote on the page last gets what it wrote. */
  #turnPage(): ValueWriter {
    if (PacketWriter.#pageOwner !== null) PacketWriter.#pageOwner.#leavePage()
    PacketWriter.#pageOwner = this
    page.skip(headerRoomBytes)
    return page
  }

  #leavePage(): void {
    if (this.#messageCount > 0) this.#left = this.#close()
    else page.truncate(0)
    this.#open = null
  }

  #openOwn(): ValueWriter {
    const writer = spareWriters.pop() ?? new ValueWriter()
    writer.skip(headerRoomBytes)
    if (this.#left !== null) {
      const { bytes, start, end } = this.#left
      writer.raw(bytes.subarray(start + arrayHeaderBytes(this.#messageCount), end))
      this.#left = null
    }
    return writer
  }

  #close(): Packet {
    const writer = this.#writer
    const start = writer.arrayHeaderEndingAt(headerRoomBytes, this.#messageCount)
    const stays = writer === page && writer.length <= largestPooledBytes
    const packet = stays ? writer.leave(start) : writer.copy(start)
    this.#open = null
    if (writer === page) {
      PacketWriter.#pageOwner = null
      if (!stays) page.reset(pageBytes)
    } else {
      writer.reset(largestKeptBytes)
      if (spareWriters.length < spareWritersMax) spareWriters.push(writer)
    }
    return packet
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
      this.#takeBack(start)
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
    this.#takeBack(start)
    throw new UnpackableValueError(`${pathOf(shape, type)}.${field}`, refusal)
  }

  /** What was written from there on is not sent. */
  #takeBack(start: number): void {
    this.#writer.truncate(start)
    if (this.#open !== page || this.#messageCount > 0) return
    // Nobody takes what holds nothing: the page would keep its owner, and with it the world that this is a way of.
    this.#leavePage()
    PacketWriter.#pageOwner = null
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

function arrayHeaderBytes(count: number): number {
  return count < 16 ? 1 : count < 0x1_0000 ? 3 : headerRoomBytes
}
