/**
 * A type and a range of an array that it does not own, decoded on demand. Immutable. It keeps the
 * whole array alive.
 */
import { sameBytes } from '../bytes/bytes.js'
import { readDecimal128 } from './decimal128.js'
import { BsonType } from './types.js'
import { readDouble, readInt32, readInt64, readInt64Number } from '../bytes/little-endian.js'

export class RawValue {
  readonly type: number
  readonly bytes: Uint8Array
  /** First byte after type byte and field name. */
  readonly start: number
  readonly end: number

  constructor(type: number, bytes: Uint8Array, start: number, end: number) {
    this.type = type
    this.bytes = bytes
    this.start = start
    this.end = end
  }

  /** For objects and arrays a whole document. */
  slice(): Uint8Array {
    return this.start === 0 && this.end === this.bytes.length ? this.bytes : this.bytes.subarray(this.start, this.end)
  }

  detached(): RawValue {
    // Not slice: a Buffer's slice is a view.
    const copy = new Uint8Array(this.bytes.subarray(this.start, this.end))
    return new RawValue(this.type, copy, 0, copy.length)
  }

  isNumber(): boolean {
    const type = this.type
    return (
      type === BsonType.int32 || type === BsonType.double || type === BsonType.int64 || type === BsonType.decimal128
    )
  }

  isNullish(): boolean {
    return this.type === BsonType.null || this.type === BsonType.undefined
  }

  /** An int64 becomes the nearest double. NaN for decimal128 and types other than numbers. */
  asNumber(): number {
    switch (this.type) {
      case BsonType.int32:
        return readInt32(this.bytes, this.start)
      case BsonType.double:
        return readDouble(this.bytes, this.start)
      case BsonType.int64:
        return readInt64Number(this.bytes, this.start)
      default:
        return Number.NaN
    }
  }

  /**
   * The bits of an int64, date or timestamp, signed; an int32 widened.
   * @throws TypeError for other types
   */
  asBigInt(): bigint {
    switch (this.type) {
      case BsonType.int64:
      case BsonType.date:
      case BsonType.timestamp:
        return readInt64(this.bytes, this.start)
      case BsonType.int32:
        return BigInt(readInt32(this.bytes, this.start))
      default:
        throw new TypeError(`not an integer: type ${this.type}`)
    }
  }

  /** @throws TypeError unless it is a string, symbol or code */
  asString(): string {
    if (this.type !== BsonType.string && this.type !== BsonType.symbol && this.type !== BsonType.code) {
      throw new TypeError(`not a string: type ${this.type}`)
    }
    return readUtf8(this.bytes, this.start + 4, this.end - 1)
  }

  /** For names of databases and collections: see {@link readName}. */
  asName(): string {
    return this.type === BsonType.string ? readName(this.bytes, this.start + 4, this.end - 1) : this.asString()
  }

  /**
   * Without length and subtype: the sixteen bytes of a UUID.
   * @throws TypeError for other types
   */
  asBinary(): Uint8Array {
    if (this.type !== BsonType.binary) throw new TypeError(`not a binary: type ${this.type}`)
    return this.bytes.subarray(this.start + 5, this.end)
  }

  isBinary(data: Uint8Array): boolean {
    return this.type === BsonType.binary && sameBytes(this.asBinary(), data)
  }

  /** Stricter than equality: `1` and `1.0` are equal, not identical. */
  isIdentical(other: RawValue): boolean {
    const length = this.end - this.start
    if (this.type !== other.type || other.end - other.start !== length) return false
    for (let i = 0; i < length; i++) if (this.bytes[this.start + i] !== other.bytes[other.start + i]) return false
    return true
  }

  asBool(): boolean {
    return this.bytes[this.start] !== 0
  }

  /** As the server's `trueValue`: false for missing, null, undefined, false and numeric zero. */
  isTruthy(): boolean {
    switch (this.type) {
      case BsonType.bool:
        return this.asBool()
      case BsonType.null:
      case BsonType.undefined:
        return false
      case BsonType.int32:
      case BsonType.int64:
      case BsonType.double:
        return this.asNumber() !== 0
      case BsonType.decimal128:
        return !isDecimalZero(this.bytes, this.start)
      default:
        return true
    }
  }
}

function isDecimalZero(bytes: Uint8Array, start: number): boolean {
  const decimal = readDecimal128(bytes, start)
  return decimal.kind === 'finite' && decimal.coefficient === 0n
}

/** Invalid sequences become U+FFFD. */
export function readUtf8(bytes: Uint8Array, start: number, end: number): string {
  if (end - start < 24) {
    let text = ''
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!
      if (byte > 0x7f) return asBuffer(bytes).utf8Slice(start, end)
      text += String.fromCharCode(byte)
    }
    return text
  }
  return asBuffer(bytes).utf8Slice(start, end)
}

/** Enough for the names of more than a thousand shards. */
const knownNameCount = 8192
/**
 * Indexed by a hash of their bytes. One shared string per name creates no garbage, and a map finds
 * it by identity.
 */
const knownNames: string[] = Array.from({ length: knownNameCount }, () => '')
const longestKnownName = 32

/** As {@link readUtf8}, faster for repeated names of fields, databases and collections. */
export function readName(bytes: Uint8Array, start: number, end: number): string {
  const length = end - start
  if (length > longestKnownName) return readUtf8(bytes, start, end)
  let hash = length
  let all = 0
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    all |= byte
    hash = (hash * 31 + byte) | 0
  }
  if (all > 0x7f) return readUtf8(bytes, start, end)
  const slot = (hash ^ (hash >>> 10) ^ (hash >>> 20)) & (knownNameCount - 1)
  const known = knownNames[slot]!
  if (known.length === length) {
    let i = 0
    while (i < length && known.charCodeAt(i) === bytes[start + i]) i++
    if (i === length) return known
  }
  return (knownNames[slot] = readUtf8(bytes, start, end))
}

export interface SlicingBuffer extends Buffer {
  utf8Slice(start: number, end: number): string
  latin1Slice(start: number, end: number): string
  latin1Write(text: string, offset: number, length: number): number
}

/** The same memory. A Buffer is the fastest to convert to strings. */
export function asBuffer(bytes: Uint8Array): SlicingBuffer {
  return (
    bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  ) as SlicingBuffer
}
