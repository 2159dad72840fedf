import { Packet } from './packet.js'
import { unzeroed } from './unzeroed.js'

const smallestCapacityBytes = 1024
/** Below this length a loop over the characters beats the call into the runtime. */
const shortText = 48

/**
 * Appends msgpack values to one growing buffer. It writes the bytes that msgpackr writes for the values a message may
 * hold, and refuses every other value. By hand, because half of a message's cost was msgpackr's generic packer, and
 * because packing at the time of sending makes the message a snapshot.
 */
export class ValueWriter {
  readonly #smallestCapacityBytes: number
  #bytes: Uint8Array<ArrayBuffer>
  #buffer: ArrayBuffer
  #view: DataView
  /** What is before it has been left to somebody: see {@link leave}. */
  #start = 0
  #end = 0

  constructor(capacityBytes = smallestCapacityBytes) {
    this.#smallestCapacityBytes = capacityBytes
    this.#bytes = unzeroed(capacityBytes)
    this.#buffer = this.#bytes.buffer
    this.#view = new DataView(this.#buffer)
  }

  get length(): number {
    return this.#end - this.#start
  }

  /** Drops everything behind `length`. */
  truncate(length: number): void {
    this.#end = this.#start + length
  }

  /** A copy of what there is from `from` on, in a buffer of exactly that size. */
  copy(from: number): Packet {
    const start = this.#start + from
    const copy = unzeroed(this.#end - start)
    copy.set(this.#bytes.subarray(start, this.#end))
    return new Packet(copy, copy.buffer, 0, copy.length)
  }

  /** Leaves what there is from `from` on where it is, as part of a larger buffer, and starts again with nothing behind it. */
  leave(from: number): Packet {
    const left = new Packet(this.#bytes, this.#buffer, this.#start + from, this.#end)
    this.#start = this.#end
    return left
  }

  /** Starts again with nothing; a buffer that grew far beyond the usual is given back. */
  reset(largestKeptBytes: number): void {
    this.#end = this.#start
    if (this.#bytes.length > largestKeptBytes) this.#resize(this.#smallestCapacityBytes)
  }

  /** Bytes as they are. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#end)
    this.#end += bytes.length
  }

  /** Leaves room to be filled by {@link arrayHeaderEndingAt}. */
  skip(lengthBytes: number): void {
    this.#reserve(lengthBytes)
    this.#end += lengthBytes
  }

  /** Writes an array header that ends before `end`. @returns where it starts. */
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

  /** A whole number of 0 … 2^32 - 1; not checked. */
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

  /** @returns null, or what the value is that cannot be written. */
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
        return Array.isArray(value)
          ? this.#array(value)
          : `an object (${Object.getPrototypeOf(value)?.constructor?.name ?? 'without prototype'})`
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
      // msgpackr reads int64 as BigInt but float64 as number, and a safe integer is exact in both.
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
    // The header's size follows from the bytes, which are known only afterwards: guess from the units, like msgpackr does.
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
    if (needed > this.#bytes.length) this.#resize(Math.max(this.#smallestCapacityBytes, (needed - this.#start) * 2))
  }

  /** Goes on in a buffer of that size. What has been left stays where it is. */
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
