import type { MessageKind, ReplyOf, RequestOf } from '../catalogue/index.js'
import { kindShape, type KindShape } from './kinds.js'
import { refusalOf } from './packed-payload.js'
import { packetTypes, UnpackableValueError, type FailurePayload, type Packet, type PacketType } from './packet.js'
import { ValueWriter } from './value-writer.js'

const headerRoomBytes = 5
const largestKeptBytes = 1024 * 1024

export interface PacketWriterOptions {
  /**
   * Refuse a field that the exchange does not have, which would be lost otherwise. Default false.
   */
  readonly checked?: boolean
  /**
   * Small packets share a larger buffer, which saves one buffer each, but they cannot be
   * transferred. Default false.
   */
  readonly pooled?: boolean
}

/** Reused, because most peers of a large cluster are idle. */
const spareWriters: ValueWriter[] = []
const spareWritersMax = 64

const pageBytes = 64 * 1024
const largestPooledBytes = 16 * 1024
/** The page of pooled writers: a complete packet stays where it was written. */
const page = new ValueWriter(pageBytes)

/**
 * Collects messages into one packet: a msgpack array of {@link MessageTuple}s. Messages are packed
 * when they are added, so later changes to the sender's objects do not reach the receiver. No state
 * outlives a packet.
 *
 * Pooled writers share one page (`#pageOwner`, `#finished`), which a first reading can skip.
 *
 * Every method that adds a message throws {@link UnpackableValueError} for undefined, functions,
 * bigints, numbers other than safe integers, and objects other than arrays and byte arrays. The
 * packet is then unchanged. A negative zero arrives as zero.
 */
export class PacketWriter {
  /** The writer of the unfinished packet on the page; null: all are finished. */
  static #pageOwner: PacketWriter | null = null
  /** null: the packet has no message yet, or another writer has claimed the page. */
  #open: ValueWriter | null = null
  /** The packet as it was when another writer claimed the page; null: none did. */
  #finished: Packet | null = null
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

  get sizeBytes(): number {
    if (this.#open !== null) return this.#open.length - headerRoomBytes
    return this.#finished === null
      ? 0
      : this.#finished.end - this.#finished.start - arrayHeaderBytes(this.#messageCount)
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

  /**
   * Empties the writer. Unless {@link PacketWriterOptions.pooled}, the buffer holds nothing else
   * and can be transferred; that of a large packet has free room.
   */
  take(): Uint8Array<ArrayBuffer> {
    const { bytes, start, end, attachments } = this.takeInPlace()
    if (attachments.length > 0) throw new Error('a packet with attachments cannot leave its thread')
    return end - start === bytes.length ? bytes : bytes.subarray(start, end)
  }

  /** As {@link take}, without a view of the bytes, for a reader in this thread. */
  takeInPlace(): Packet {
    const packet = this.#finished ?? this.#close()
    this.#finished = null
    this.#messageCount = 0
    return packet
  }

  get #writer(): ValueWriter {
    return this.#open ?? (this.#open = this.#pooled && this.#finished === null ? this.#claimPage() : this.#openOwn())
  }

  #claimPage(): ValueWriter {
    if (PacketWriter.#pageOwner !== null) PacketWriter.#pageOwner.#releasePage()
    PacketWriter.#pageOwner = this
    page.skip(headerRoomBytes)
    return page
  }

  #releasePage(): void {
    if (this.#messageCount > 0) this.#finished = this.#close()
    else page.truncate(0, 0)
    this.#open = null
  }

  #openOwn(): ValueWriter {
    const writer = spareWriters.pop() ?? new ValueWriter()
    writer.skip(headerRoomBytes)
    if (this.#finished !== null) {
      writer.raw(this.#finished, this.#finished.start + arrayHeaderBytes(this.#messageCount))
      this.#finished = null
    }
    return writer
  }

  #close(): Packet {
    const writer = this.#writer
    const start = writer.arrayHeaderEndingAt(headerRoomBytes, this.#messageCount)
    const isOnPage = writer === page
    // A large packet takes the buffer along.
    const inPlace = writer.length > largestKeptBytes || (isOnPage && writer.length <= largestPooledBytes)
    const packet = inPlace ? writer.finishInPlace(start) : writer.copy(start)
    this.#open = null
    if (isOnPage) PacketWriter.#pageOwner = null
    writer.reset(isOnPage ? pageBytes : largestKeptBytes)
    if (!isOnPage && spareWriters.length < spareWritersMax) spareWriters.push(writer)
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
    const record = withTime(recordOf(sent, shape, type), shape)
    const fields = isReply ? shape.replyFields : shape.requestFields
    const write = isReply ? shape.writeReply : shape.writeRequest
    const writer = this.#writer
    const start = writer.length
    const attachments = writer.attachmentCount
    this.#addHead(type, id, to, from, shape.index)
    let refused: number
    try {
      refused = write(writer, record)
    } catch (error) {
      this.#rollBack(start, attachments)
      throw error
    }
    if (refused >= 0) {
      const field = fields[refused]!
      const refusal = refusalIn(record[field])
      this.#rollBack(start, attachments)
      throw unpackable(type, shape, field, refusal)
    }
    if (this.#checked && fieldCount(record) !== fields.length && Object.keys(record).length !== fields.length) {
      const unexpected = Object.keys(record).find((key) => !fields.includes(key))
      this.#rollBack(start, attachments)
      throw unpackable(type, shape, unexpected ?? '', 'a field that the exchange does not have')
    }
    this.#messageCount++
  }

  #rollBack(start: number, attachments: number): void {
    this.#writer.truncate(start, attachments)
    if (this.#open !== page || this.#messageCount > 0) return
    // Empty packets are never sent, so release the page here: it would keep this writer and its
    // world in memory.
    this.#releasePage()
    PacketWriter.#pageOwner = null
  }
}

function refusalIn(value: unknown): string {
  return refusalOf(value) ?? 'a value'
}

function unpackable(type: PacketType, shape: KindShape, field: string, refusal: string): UnpackableValueError {
  return new UnpackableValueError(`${pathOf(shape, type)}.${field}`, refusal)
}

function pathOf({ kind }: KindShape, type: PacketType): string {
  return `${kind} ${type === packetTypes.reply ? 'reply' : 'request'}`
}

function withTime<R extends object>(record: R, { isGossiped }: KindShape): R {
  return isGossiped && !('clusterTime' in record) ? { ...record, clusterTime: null } : record
}

function recordOf(sent: unknown, shape: KindShape, type: PacketType): Readonly<Record<string, unknown>> {
  if (typeof sent === 'object' && sent !== null) return sent as Record<string, unknown>
  throw new UnpackableValueError(pathOf(shape, type), String(sent))
}

/** Inherited fields count too. Unlike `Object.keys` it allocates no list. */
function fieldCount(record: object): number {
  let count = 0
  for (const _ in record) count++
  return count
}

function arrayHeaderBytes(count: number): number {
  return count < 16 ? 1 : count < 0x1_0000 ? 3 : headerRoomBytes
}
