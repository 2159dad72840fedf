import { Attachment } from './attachment.js'
import { attachmentType, noAttachments, Packet } from './packet.js'
import { unzeroed } from './unzeroed.js'

const smallestCapacityBytes = 1024
/** After such a value, a packet is probably almost complete. */
const largeBytes = 64 * 1024
/** Below this length a loop over the characters is faster than a call of `encodeInto`. */
const shortText = 48
const fixext4 = 0xd6

/**
 * Appends msgpack values to one growing buffer: the same bytes as msgpackr for the values that a
 * message can hold; all others are refused. Written by hand because msgpackr's generic packer was
 * half of the cost of a message; it packs the kinds that are not hot.
 */
export class ValueWriter {
  readonly #smallestCapacityBytes: number
  #bytes: Uint8Array<ArrayBuffer>
  #buffer: ArrayBuffer
  #view: DataView
  /** The end of the packets that {@link finishInPlace} has returned. */
  #start = 0
  #end = 0
  #attachments: Attachment[] | null = null

  constructor(capacityBytes = smallestCapacityBytes) {
    this.#smallestCapacityBytes = capacityBytes
    this.#bytes = unzeroed(capacityBytes)
    this.#buffer = this.#bytes.buffer
    this.#view = new DataView(this.#buffer)
  }

  get length(): number {
    return this.#end - this.#start
  }

  get attachmentCount(): number {
    return this.#attachments === null ? 0 : this.#attachments.length
  }

  truncate(length: number, attachmentCount: number): void {
    this.#end = this.#start + length
    this.#attachments = attachmentCount === 0 ? null : this.#attachments!.slice(0, attachmentCount)
  }

  /** The copy has a buffer of exactly its size. */
  copy(from: number): Packet {
    const start = this.#start + from
    const copy = unzeroed(this.#end - start)
    copy.set(this.#bytes.subarray(start, this.#end))
    return new Packet(copy, copy.buffer, 0, copy.length, this.#takeAttachments())
  }

  /** Returns the bytes from `from` on without a copy; the next packet starts after them. */
  finishInPlace(from: number): Packet {
    const finished = new Packet(this.#bytes, this.#buffer, this.#start + from, this.#end, this.#takeAttachments())
    this.#start = this.#end
    return finished
  }

  #takeAttachments(): readonly Attachment[] {
    const attachments = this.#attachments ?? noAttachments
    this.#attachments = null
    return attachments
  }

  /** A buffer larger than `largestKeptBytes` is replaced by a small one. */
  reset(largestKeptBytes: number): void {
    this.#end = this.#start
    if (this.#bytes.length > largestKeptBytes) this.#resize(this.#smallestCapacityBytes)
  }

  /** Appends a packet's bytes from `start`. Its attachments become the first here. */
  raw({ bytes, end, attachments }: Packet, start: number): void {
    this.#reserve(end - start)
    this.#bytes.set(bytes.subarray(start, end), this.#end)
    this.#end += end - start
    this.#attachments = attachments.length === 0 ? null : [...attachments]
  }

  /** Appends msgpack that is already packed. */
  bytes(packed: Uint8Array): void {
    this.#reserve(packed.length)
    this.#bytes.set(packed, this.#end)
    this.#end += packed.length
  }

  /** Leaves room for {@link arrayHeaderEndingAt}. */
  skip(lengthBytes: number): void {
    this.#reserve(lengthBytes)
    this.#end += lengthBytes
  }

  /** The header ends before `end`. @returns where it starts */
  arrayHeaderEndingAt(end: number, count: number): number {
    const at = this.#start + end
    if (count < 16) {
      this.#bytes[at - 1] = 0x90 | count
      return end - 1
    }
    if (count < 0x1_0000) {
      this.#bytes[at - 3] = 0xdc
      this.#view.setUint16(at - 2, count)
      return end - 3
    }
    this.#bytes[at - 5] = 0xdd
    this.#view.setUint32(at - 4, count)
    return end - 5
  }

  arrayHeader(count: number): void {
    this.#reserve(5)
    if (count < 16) {
      this.#bytes[this.#end++] = 0x90 | count
    } else if (count < 0x1_0000) {
      this.#bytes[this.#end] = 0xdc
      this.#view.setUint16(this.#end + 1, count)
      this.#end += 3
    } else {
      this.#bytes[this.#end] = 0xdd
      this.#view.setUint32(this.#end + 1, count)
      this.#end += 5
    }
  }

  /** Writes a whole number of 0 to 2^32 - 1, unchecked. */
  uint32(value: number): void {
    this.#reserve(5)
    if (value < 0x80) {
      this.#bytes[this.#end++] = value
    } else if (value < 0x100) {
      this.#bytes[this.#end] = 0xcc
      this.#bytes[this.#end + 1] = value
      this.#end += 2
    } else if (value < 0x1_0000) {
      this.#bytes[this.#end] = 0xcd
      this.#view.setUint16(this.#end + 1, value)
      this.#end += 3
    } else {
      this.#bytes[this.#end] = 0xce
      this.#view.setUint32(this.#end + 1, value)
      this.#end += 5
    }
  }

  /** @returns null, or a description of the value that cannot be written */
  value(value: unknown): string | null {
    switch (typeof value) {
      case 'string':
        this.#text(value)
        return null
      case 'number':
        return this.#integer(value)
      case 'boolean':
        this.#reserve(1)
        this.#bytes[this.#end++] = value ? 0xc3 : 0xc2
        return null
      case 'object':
        if (value === null) {
          this.#reserve(1)
          this.#bytes[this.#end++] = 0xc0
          return null
        }
        if (value instanceof Uint8Array) {
          this.#byteArray(value)
          return null
        }
        if (Array.isArray(value)) return this.#array(value)
        if (value instanceof Attachment) {
          this.#attachment(value)
          return null
        }
        return `an object (${Object.getPrototypeOf(value)?.constructor?.name ?? 'without prototype'})`
      default:
        return `a value of type ${typeof value}`
    }
  }

  #array(values: readonly unknown[]): string | null {
    this.arrayHeader(values.length)
    for (let i = 0; i < values.length; i++) {
      const refusal = this.value(values[i])
      if (refusal !== null) return refusal
    }
    return null
  }

  #attachment(attachment: Attachment): void {
    this.#attachments ??= []
    this.#reserve(6)
    this.#bytes[this.#end] = fixext4
    this.#bytes[this.#end + 1] = attachmentType
    this.#view.setUint32(this.#end + 2, this.#attachments.length)
    this.#end += 6
    this.#attachments.push(attachment)
  }

  #integer(value: number): string | null {
    if (!Number.isSafeInteger(value)) return `the number ${value}`
    if (value >= 0 && value < 0x1_0000_0000) {
      this.uint32(value)
      return null
    }
    this.#reserve(9)
    if (value >= -0x20 && value < 0) {
      this.#bytes[this.#end++] = value & 0xff
    } else if (value >= -0x80 && value < 0) {
      this.#bytes[this.#end] = 0xd0
      this.#view.setInt8(this.#end + 1, value)
      this.#end += 2
    } else if (value >= -0x8000 && value < 0) {
      this.#bytes[this.#end] = 0xd1
      this.#view.setInt16(this.#end + 1, value)
      this.#end += 3
    } else if (value >= -0x8000_0000 && value < 0) {
      this.#bytes[this.#end] = 0xd2
      this.#view.setInt32(this.#end + 1, value)
      this.#end += 5
    } else {
      // As a float64: msgpackr reads int64 as BigInt, and a safe integer is exact in both.
      this.#bytes[this.#end] = 0xcb
      this.#view.setFloat64(this.#end + 1, value)
      this.#end += 9
    }
    return null
  }

  #text(value: string): void {
    const units = value.length
    this.#reserve(5 + units * 3)
    if (units < shortText && this.#asciiText(value, units)) return
    // The size of the header depends on the number of bytes, known only afterwards: guess it from
    // the units.
    const headerBytes = units < 32 ? 1 : units < 64 ? 2 : units < 0x4000 ? 3 : 5
    const start = this.#end + headerBytes
    const { written } = encoder.encodeInto(value, this.#bytes.subarray(start))
    this.#textHeader(start, headerBytes, written)
  }

  #asciiText(value: string, units: number): boolean {
    const bytes = this.#bytes
    const start = this.#end + (units < 32 ? 1 : 2)
    for (let i = 0; i < units; i++) {
      const unit = value.charCodeAt(i)
      if (unit >= 0x80) return false
      bytes[start + i] = unit
    }
    this.#textHeader(start, start - this.#end, units)
    return true
  }

  #textHeader(start: number, headerBytes: number, textBytes: number): void {
    const needed = textBytes < 32 ? 1 : textBytes < 0x100 ? 2 : textBytes < 0x1_0000 ? 3 : 5
    if (needed !== headerBytes) this.#bytes.copyWithin(this.#end + needed, start, start + textBytes)
    const at = this.#end
    if (needed === 1) {
      this.#bytes[at] = 0xa0 | textBytes
    } else if (needed === 2) {
      this.#bytes[at] = 0xd9
      this.#bytes[at + 1] = textBytes
    } else if (needed === 3) {
      this.#bytes[at] = 0xda
      this.#view.setUint16(at + 1, textBytes)
    } else {
      this.#bytes[at] = 0xdb
      this.#view.setUint32(at + 1, textBytes)
    }
    this.#end = at + needed + textBytes
  }

  #byteArray(value: Uint8Array): void {
    const lengthBytes = value.length
    this.#reserve(5 + lengthBytes)
    let at = this.#end
    if (lengthBytes < 0x100) {
      this.#bytes[at] = 0xc4
      this.#bytes[at + 1] = lengthBytes
      at += 2
    } else if (lengthBytes < 0x1_0000) {
      this.#bytes[at] = 0xc5
      this.#view.setUint16(at + 1, lengthBytes)
      at += 3
    } else {
      this.#bytes[at] = 0xc6
      this.#view.setUint32(at + 1, lengthBytes)
      at += 5
    }
    this.#bytes.set(value, at)
    this.#end = at + lengthBytes
  }

  #reserve(extraBytes: number): void {
    const needed = this.#end + extraBytes
    if (needed <= this.#bytes.length) return
    const room = extraBytes < largeBytes ? needed - this.#start : largeBytes
    this.#resize(Math.max(this.#smallestCapacityBytes, needed - this.#start + room))
  }

  /** Finished packets stay in the old buffer. */
  #resize(capacityBytes: number): void {
    const resized = unzeroed(capacityBytes)
    resized.set(this.#bytes.subarray(this.#start, this.#end))
    this.#end -= this.#start
    this.#start = 0
    this.#bytes = resized
    this.#buffer = resized.buffer
    this.#view = new DataView(this.#buffer)
  }
}

const encoder = new TextEncoder()
