import { unzeroed } from '../unzeroed.js'

const smallestCapacityBytes = 1024
/** Below this length a loop over the characters beats the call into the runtime. */
const shortText = 48

/**
 * Appends msgpack values to one growing buffer. It writes the bytes that msgpackr writes for the values a message may
 * hold, and refuses every other value. By hand, because half of a message's cost was msgpackr's generic packer, and
 * because packing at the time of sending makes the message a snapshot.
 */
export class ValueWriter {
  #bytes: Uint8Array<ArrayBuffer>
  #view: DataView
  #length = 0

  constructor() {
    this.#bytes = new Uint8Array(smallestCapacityBytes)
    this.#view = new DataView(this.#bytes.buffer)
  }

  get length(): number {
    return this.#length
  }

  /** Drops everything behind `length`. */
  truncate(length: number): void {
    this.#length = length
  }

  /** A copy in a buffer of exactly that size. */
  copy(start: number): Uint8Array<ArrayBuffer> {
    const copy = unzeroed(this.#length - start)
    copy.set(this.#bytes.subarray(start, this.#length))
    return copy
  }

  /** Copies what there is from `start` on to a place of that size. */
  copyTo(place: Uint8Array, start: number): void {
    const bytes = this.#bytes
    const length = this.#length - start
    if (length > 128) place.set(bytes.subarray(start, this.#length))
    else for (let i = 0; i < length; i++) place[i] = bytes[start + i]!
  }

  /** Starts again with nothing; a buffer that grew far beyond the usual is given back. */
  reset(largestKeptBytes: number): void {
    this.#length = 0
    if (this.#bytes.length <= largestKeptBytes) return
    this.#bytes = new Uint8Array(smallestCapacityBytes)
    this.#view = new DataView(this.#bytes.buffer)
  }

  /** Leaves room to be filled by {@link arrayHeaderEndingAt}. */
  skip(lengthBytes: number): void {
    this.#reserve(lengthBytes)
    this.#length += lengthBytes
  }

  /** Writes an array header that ends before `end`. @returns where it starts. */
  arrayHeaderEndingAt(end: number, count: number): number {
    if (count < 16) {
      this.#bytes[end - 1] = 0x90 | count
      return end - 1
    }
    if (count < 0x1_0000) {
      this.#bytes[end - 3] = 0xdc
      this.#view.setUint16(end - 2, count)
      return end - 3
    }
    this.#bytes[end - 5] = 0xdd
    this.#view.setUint32(end - 4, count)
    return end - 5
  }

  arrayHeader(count: number): void {
    this.#reserve(5)
    if (count < 16) {
      this.#bytes[this.#length++] = 0x90 | count
    } else if (count < 0x1_0000) {
      this.#bytes[this.#length] = 0xdc
      this.#view.setUint16(this.#length + 1, count)
      this.#length += 3
    } else {
      this.#bytes[this.#length] = 0xdd
      this.#view.setUint32(this.#length + 1, count)
      this.#length += 5
    }
  }

  /** A whole number of 0 … 2^32 - 1; not checked. */
  uint32(value: number): void {
    this.#reserve(5)
    if (value < 0x80) {
      this.#bytes[this.#length++] = value
    } else if (value < 0x100) {
      this.#bytes[this.#length] = 0xcc
      this.#bytes[this.#length + 1] = value
      this.#length += 2
    } else if (value < 0x1_0000) {
      this.#bytes[this.#length] = 0xcd
      this.#view.setUint16(this.#length + 1, value)
      this.#length += 3
    } else {
      this.#bytes[this.#length] = 0xce
      this.#view.setUint32(this.#length + 1, value)
      this.#length += 5
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
        this.#bytes[this.#length++] = value ? 0xc3 : 0xc2
        return null
      case 'object':
        if (value === null) {
          this.#reserve(1)
          this.#bytes[this.#length++] = 0xc0
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
      this.#bytes[this.#length++] = value & 0xff
    } else if (value >= -0x80 && value < 0) {
      this.#bytes[this.#length] = 0xd0
      this.#view.setInt8(this.#length + 1, value)
      this.#length += 2
    } else if (value >= -0x8000 && value < 0) {
      this.#bytes[this.#length] = 0xd1
      this.#view.setInt16(this.#length + 1, value)
      this.#length += 3
    } else if (value >= -0x8000_0000 && value < 0) {
      this.#bytes[this.#length] = 0xd2
      this.#view.setInt32(this.#length + 1, value)
      this.#length += 5
    } else {
      // msgpackr reads int64 as BigInt but float64 as number, and a safe integer is exact in both.
      this.#bytes[this.#length] = 0xcb
      this.#view.setFloat64(this.#length + 1, value)
      this.#length += 9
    }
    return null
  }

  #text(value: string): void {
    const units = value.length
    this.#reserve(5 + units * 3)
    if (units < shortText && this.#asciiText(value, units)) return
    // The header's size follows from the bytes, which are known only afterwards: guess from the units, like msgpackr does.
    const headerBytes = units < 32 ? 1 : units < 64 ? 2 : units < 0x4000 ? 3 : 5
    const start = this.#length + headerBytes
    const { written } = encoder.encodeInto(value, this.#bytes.subarray(start))
    this.#textHeader(start, headerBytes, written)
  }

  #asciiText(value: string, units: number): boolean {
    const bytes = this.#bytes
    const start = this.#length + (units < 32 ? 1 : 2)
    for (let i = 0; i < units; i++) {
      const unit = value.charCodeAt(i)
      if (unit >= 0x80) return false
      bytes[start + i] = unit
    }
    this.#textHeader(start, start - this.#length, units)
    return true
  }

  #textHeader(start: number, headerBytes: number, textBytes: number): void {
    const needed = textBytes < 32 ? 1 : textBytes < 0x100 ? 2 : textBytes < 0x1_0000 ? 3 : 5
    if (needed !== headerBytes) this.#bytes.copyWithin(this.#length + needed, start, start + textBytes)
    const at = this.#length
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
    this.#length = at + needed + textBytes
  }

  #byteArray(value: Uint8Array): void {
    const lengthBytes = value.length
    this.#reserve(5 + lengthBytes)
    let at = this.#length
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
    this.#length = at + lengthBytes
  }

  #reserve(extraBytes: number): void {
    const needed = this.#length + extraBytes
    if (needed <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }
}

const encoder = new TextEncoder()
