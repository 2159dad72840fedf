import { catalogue } from '../catalogue/index.js'
import type { Attachment } from './attachment.js'
import { hotKinds } from './hot-kinds.js'
import { unpackForeign, unpackPayload } from './packed-payload.js'
import {
  attachmentType,
  noAttachments,
  packetTypes,
  type MessageTuple,
  type Packet,
  type PacketType,
} from './packet.js'

/**
 * The messages of a packet; {@link KindShape} makes records of their payloads. Byte arrays in them
 * are views on the packet: never write to them, and copy those that outlive the handler, or the
 * whole packet stays in memory.
 *
 * msgpackr reads the payloads of kinds that are not hot, and packets with values that our writer
 * does not write.
 */
export function readPacket(packet: Uint8Array): readonly MessageTuple[] {
  bytes = packet
  buffer = packet.buffer
  offset = packet.byteOffset
  return read(0, packet.length)
}

/** {@link readPacket} for a packet in the memory that it was written to. */
export function readPacketInPlace(packet: Packet): readonly MessageTuple[] {
  bytes = packet.bytes
  buffer = packet.buffer
  offset = 0
  attachments = packet.attachments
  return read(packet.start, packet.end)
}

function read(from: number, to: number): readonly MessageTuple[] {
  at = from
  end = to
  view = null
  isForeign = false
  const messages = readMessages()
  const isWhole = !isForeign && at === to
  const packet = bytes
  bytes = nothing
  buffer = noBuffer
  view = null
  attachments = noAttachments
  return isWhole ? messages : (unpackForeign(packet.subarray(from, to)) as MessageTuple[])
}

const nothing = new Uint8Array(0)
/** A constant, because an array's `buffer` getter is a call out of compiled code. */
const noBuffer = nothing.buffer

// Module variables instead of an object's fields, because they are read for each value.
let bytes: Uint8Array = nothing
let buffer: ArrayBufferLike = noBuffer
let offset = 0
let view: DataView | null = null
let attachments: readonly Attachment[] = noAttachments
let at = 0
let end = 0
/** The packet has a value that our writer does not write: discard what was read. */
let isForeign = false

function readMessages(): MessageTuple[] {
  const count = readArrayHeader()
  // Most packets have one message; see readArray.
  if (count === 1) return [readMessage()]
  const messages: MessageTuple[] = []
  for (let i = 0; i < count && !isForeign; i++) messages.push(readMessage())
  return messages
}

function readMessage(): MessageTuple {
  if (readArrayHeader() !== 6) isForeign = true
  const type = readNumber() as PacketType
  const id = readNumber()
  const to = readNumber()
  const from = readNumber()
  const kind = readNumber()
  return [type, id, to, from, kind, isPacked(type, kind) ? readPacked() : readArray(readArrayHeader())]
}

function isPacked(type: PacketType, kind: number): boolean {
  return !isForeign && type <= packetTypes.notice && packedKinds[kind] === 1
}

/** By the kind's number: 1 when msgpackr packs its payloads. */
const packedKinds = Uint8Array.from(Object.keys(catalogue), (kind) => (hotKinds.has(kind) ? 0 : 1))

function readPacked(): readonly unknown[] {
  try {
    const { payload, lengthBytes } = unpackPayload(bytes.subarray(at, end))
    at += lengthBytes
    return payload
  } catch {
    // Truncated: the error comes from reading the whole packet.
    return foreign([])
  }
}

function foreign<T>(value: T): T {
  isForeign = true
  return value
}

function readArrayHeader(): number {
  const head = bytes[at++]!
  if (head >= 0x90 && head < 0xa0) return head & 0x0f
  if (head === 0xdc) return readUint(2)
  return head === 0xdd ? readUint(4) : foreign(0)
}

function readNumber(): number {
  const head = bytes[at]!
  if (head >= 0x80) return readValue() as number
  at++
  return head
}

function readValue(): unknown {
  const head = bytes[at++]!
  if (head < 0x80) return head
  if (head >= 0xa0 && head < 0xc0) return readText(head & 0x1f)
  if (head >= 0x90 && head < 0xa0) return readArray(head & 0x0f)
  if (head >= 0xe0) return head - 0x100
  switch (head) {
    case 0xc0:
      return null
    case 0xc2:
      return false
    case 0xc3:
      return true
    case 0xc4:
      return readBytes(readUint(1))
    case 0xc5:
      return readBytes(readUint(2))
    case 0xc6:
      return readBytes(readUint(4))
    case 0xcb:
      return readFloat()
    case 0xcc:
      return readUint(1)
    case 0xcd:
      return readUint(2)
    case 0xce:
      return readUint(4)
    case 0xd0:
      return (readUint(1) << 24) >> 24
    case 0xd1:
      return (readUint(2) << 16) >> 16
    case 0xd2:
      return readUint(4) | 0
    case 0xd6:
      return readAttachment()
    case 0xd9:
      return readText(readUint(1))
    case 0xda:
      return readText(readUint(2))
    case 0xdb:
      return readText(readUint(4))
    case 0xdc:
      return readArray(readUint(2))
    case 0xdd:
      return readArray(readUint(4))
    default:
      return foreign(null)
  }
}

/** Beyond the end it returns any number; `read` finds the packet too short afterwards. */
function readUint(lengthBytes: 1 | 2 | 4): number {
  const start = at
  at += lengthBytes
  if (lengthBytes === 1) return bytes[start]!
  if (lengthBytes === 2) return (bytes[start]! << 8) | bytes[start + 1]!
  return ((bytes[start]! << 24) | (bytes[start + 1]! << 16) | (bytes[start + 2]! << 8) | bytes[start + 3]!) >>> 0
}

function readFloat(): number {
  if (at + 8 > end) return foreign(0)
  view ??= new DataView(buffer, offset, bytes.byteLength)
  at += 8
  return view.getFloat64(at - 8)
}

function readAttachment(): Attachment | null {
  const type = bytes[at++]
  const attachment = attachments[readUint(4)]
  return type === attachmentType && attachment !== undefined ? attachment : foreign(null)
}

function readBytes(length: number): Uint8Array {
  if (!(at + length <= end)) return foreign(nothing)
  const start = at
  at += length
  return new Uint8Array(buffer, offset + start, length)
}

// Array literals have their exact size. A growing array gets room for 17 values at the first push.
function readArray(length: number): unknown[] {
  switch (length) {
    case 0:
      return []
    case 1:
      return [readValue()]
    case 2:
      return [readValue(), readValue()]
    case 3:
      return [readValue(), readValue(), readValue()]
    case 4:
      return [readValue(), readValue(), readValue(), readValue()]
    case 5:
      return [readValue(), readValue(), readValue(), readValue(), readValue()]
    case 6:
      return [readValue(), readValue(), readValue(), readValue(), readValue(), readValue()]
    case 7:
      return [readValue(), readValue(), readValue(), readValue(), readValue(), readValue(), readValue()]
    // The fields of node.command, the commonest message.
    case 9:
      return [
        readValue(),
        readValue(),
        readValue(),
        readValue(),
        readValue(),
        readValue(),
        readValue(),
        readValue(),
        readValue(),
      ]
    default: {
      if (length > end - at) return foreign([])
      const values = new Array<unknown>(length)
      for (let i = 0; i < length && !isForeign; i++) values[i] = readValue()
      return values
    }
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const longestKnownText = 64
/**
 * Longer texts, such as UUIDs and epochs, are hashed by every third byte. Shorter ones may differ
 * in their last byte only.
 */
const longestHashedText = 16
const knownTextCount = 8192
/** ASCII texts by their hash, because names, epochs and UUIDs are repeated often. */
const knownTexts: string[] = Array.from({ length: knownTextCount }, () => '')

function readText(length: number): string {
  const start = at
  if (!(start + length <= end)) return foreign('')
  at += length
  if (length === 0) return ''
  if (length > longestKnownText) return decoder.decode(bytes.subarray(start, at))
  let hash = length
  const step = length > longestHashedText ? 3 : 1
  for (let i = start; i < at; i += step) hash = (hash * 31 + bytes[i]!) | 0
  const slot = (hash ^ (hash >>> 10)) & (knownTextCount - 1)
  const known = knownTexts[slot]!
  if (known.length === length && isTextAt(known, start)) return known
  const text = decoder.decode(bytes.subarray(start, at))
  // A text with fewer units than bytes is not ASCII.
  if (text.length === length) knownTexts[slot] = text
  return text
}

function isTextAt(text: string, start: number): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false
  return true
}
