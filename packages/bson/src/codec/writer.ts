/**
 * Builds one document front to back. Values that exist as bytes are copied, never decoded. Unusable
 * after `finish`.
 */
import { asBuffer, type RawValue } from '../values/raw-value.js'
import { readInt32, writeDouble, writeInt32, writeInt64, writeInt64Number } from '../bytes/little-endian.js'
import { bytesOfText } from '../values/raw-text.js'
import { BsonType } from '../values/types.js'

/** Small documents share a slab and are not copied out. */
const slabBytes = 16_384
const largestSharedBytes = 2048
let slab = Buffer.allocUnsafeSlow(slabBytes)
let slabUsed = 0

/** Below this length a loop is faster than a call into the runtime. */
const shortBytes = 40

/**
 * Larger buffers grow in fewer steps, because each step copies them into memory that the process
 * has not used yet. Room without data costs no memory.
 */
const largeBytes = 256 * 1024
const veryLargeBytes = 1024 * 1024
/** Room for the largest reply: 16 MB of documents and their frame. */
const largestReplyBytes = 17 * 1024 * 1024

export class DocumentWriter {
  #buffer: Buffer
  /** Whether the buffer is a slab that holds other documents too. */
  #shared: boolean
  #base = 0
  #at: number
  /** The first offset that cannot be written without growing. */
  #limit: number
  /**
   * Start of the innermost open document. Until it is closed, its length prefix holds the offset of
   * its parent from the base.
   */
  #open: number

  constructor(sizeHintBytes = 256) {
    const size = Math.max(16, sizeHintBytes)
    this.#shared = size <= largestSharedBytes
    if (!this.#shared) {
      this.#buffer = Buffer.allocUnsafeSlow(size)
      this.#limit = size
    } else {
      if (slabUsed + size > slabBytes) {
        slab = Buffer.allocUnsafeSlow(slabBytes)
        slabUsed = 0
      }
      this.#buffer = slab
      this.#base = slabUsed
      this.#limit = slabUsed += size
    }
    this.#open = this.#base
    this.#at = this.#base + 4
  }

  /** Excludes the terminator of the outermost document. */
  get length(): number {
    return this.#at - this.#base
  }

  value(name: string, value: RawValue): this {
    this.#header(value.type, name)
    this.#append(value.bytes, value.start, value.end)
    return this
  }

  raw(name: string, type: number, bytes: Uint8Array): this {
    this.#header(type, name)
    this.#append(bytes, 0, bytes.length)
    return this
  }

  document(name: string, bytes: Uint8Array): this {
    return this.raw(name, BsonType.object, bytes)
  }

  documents(name: string, documents: readonly Uint8Array[]): this {
    this.startArray(name)
    for (let i = 0; i < documents.length; i++) this.document(arrayIndexName(i), documents[i]!)
    return this.end()
  }

  /** Copies every field of the document to this level. */
  fields(bytes: Uint8Array, documentStart = 0): this {
    this.#append(bytes, documentStart + 4, documentStart + readInt32(bytes, documentStart) - 1)
    return this
  }

  int32(name: string, value: number): this {
    this.#header(BsonType.int32, name)
    this.#reserve(4)
    writeInt32(this.#buffer, this.#at, value)
    this.#at += 4
    return this
  }

  int64(name: string, value: bigint | number): this {
    this.#header(BsonType.int64, name)
    this.#reserve(8)
    if (typeof value === 'number') writeInt64Number(this.#buffer, this.#at, value)
    else writeInt64(this.#buffer, this.#at, value)
    this.#at += 8
    return this
  }

  /** An int32 where it fits, else an int64, as the server's appendNumber. */
  integer(name: string, value: number): this {
    return value >= -0x8000_0000 && value <= 0x7fff_ffff ? this.int32(name, value) : this.int64(name, value)
  }

  double(name: string, value: number): this {
    this.#header(BsonType.double, name)
    this.#reserve(8)
    writeDouble(this.#buffer, this.#at, value)
    this.#at += 8
    return this
  }

  bool(name: string, value: boolean): this {
    this.#header(BsonType.bool, name)
    this.#reserve(1)
    this.#buffer[this.#at++] = value ? 1 : 0
    return this
  }

  null(name: string): this {
    this.#header(BsonType.null, name)
    return this
  }

  string(name: string, value: string): this {
    this.#header(BsonType.string, name)
    const units = value.length
    if (units < shortBytes) {
      this.#reserve(units + 5)
      if (this.#ascii(value, units)) return this
    }
    const text = bytesOfText(value)
    if (text !== null) return this.#text(text)
    const length = Buffer.byteLength(value)
    this.#reserve(length + 5)
    writeInt32(this.#buffer, this.#at, length + 1)
    this.#buffer.write(value, this.#at + 4, length, 'utf8')
    this.#at += 4 + length
    this.#buffer[this.#at++] = 0
    return this
  }

  #text(text: Uint8Array): this {
    this.#reserve(text.length + 5)
    writeInt32(this.#buffer, this.#at, text.length + 1)
    this.#buffer.set(text, this.#at + 4)
    this.#at += 4 + text.length
    this.#buffer[this.#at++] = 0
    return this
  }

  objectId(name: string, bytes: Uint8Array): this {
    return this.raw(name, BsonType.objectId, bytes)
  }

  date(name: string, ms: number): this {
    this.#header(BsonType.date, name)
    this.#reserve(8)
    writeInt64Number(this.#buffer, this.#at, ms)
    this.#at += 8
    return this
  }

  timestamp(name: string, seconds: number, increment: number): this {
    this.#header(BsonType.timestamp, name)
    this.#reserve(8)
    writeInt32(this.#buffer, this.#at, increment)
    writeInt32(this.#buffer, this.#at + 4, seconds)
    this.#at += 8
    return this
  }

  binary(name: string, subtype: number, bytes: Uint8Array): this {
    this.#header(BsonType.binary, name)
    this.#reserve(5 + bytes.length)
    writeInt32(this.#buffer, this.#at, bytes.length)
    this.#buffer[this.#at + 4] = subtype
    this.#buffer.set(bytes, this.#at + 5)
    this.#at += 5 + bytes.length
    return this
  }

  uuid(name: string, bytes: Uint8Array): this {
    return this.binary(name, 4, bytes)
  }

  minKey(name: string): this {
    this.#header(BsonType.minKey, name)
    return this
  }

  maxKey(name: string): this {
    this.#header(BsonType.maxKey, name)
    return this
  }

  startDocument(name: string): this {
    return this.#start(BsonType.object, name)
  }

  startArray(name: string): this {
    return this.#start(BsonType.array, name)
  }

  end(): this {
    if (this.#open === this.#base) throw new Error('no embedded document is open')
    const parent = readInt32(this.#buffer, this.#open)
    this.#close()
    this.#open = this.#base + parent
    return this
  }

  /** The result's buffer has little more than its size, unless it is small and shares a slab. */
  finish(): Uint8Array {
    const written = this.finishToSend()
    return this.#shared || this.#limit - this.#at < 64 ? written : Buffer.from(written)
  }

  /** As {@link finish}, for a document that is soon dropped: its buffer may be much larger. */
  finishToSend(): Uint8Array {
    if (this.#open !== this.#base) throw new Error('an embedded document is still open')
    this.#close()
    const bytes = this.#buffer
    if (this.#shared) {
      if (bytes === slab && this.#limit === slabUsed) slabUsed = this.#at
      // Bytes after the end may now belong to another document.
      this.#limit = 0
      return bytes.subarray(this.#base, this.#at)
    }
    return bytes.subarray(0, this.#at)
  }

  #start(type: number, name: string): this {
    this.#header(type, name)
    this.#reserve(4)
    writeInt32(this.#buffer, this.#at, this.#open - this.#base)
    this.#open = this.#at
    this.#at += 4
    return this
  }

  #close(): void {
    this.#reserve(1)
    this.#buffer[this.#at++] = 0
    writeInt32(this.#buffer, this.#open, this.#at - this.#open)
  }

  #header(type: number, name: string): void {
    const length = name.length
    this.#reserve(2 + length * 3)
    const buffer = this.#buffer
    let at = this.#at
    buffer[at++] = type
    for (let i = 0; i < length; i++) {
      const code = name.charCodeAt(i)
      if (code === 0) throw new Error('a field name cannot contain NUL')
      if (code > 0x7f) {
        if (name.includes('\0')) throw new Error('a field name cannot contain NUL')
        at = this.#at + 1
        at += buffer.write(name, at, 'utf8')
        break
      }
      buffer[at++] = code
    }
    buffer[at++] = 0
    this.#at = at
  }

  /** False: the string is not ASCII, and nothing was written. */
  #ascii(value: string, units: number): boolean {
    const buffer = this.#buffer
    const at = this.#at + 4
    for (let i = 0; i < units; i++) {
      const unit = value.charCodeAt(i)
      if (unit > 0x7f) return false
      buffer[at + i] = unit
    }
    writeInt32(buffer, at - 4, units + 1)
    buffer[at + units] = 0
    this.#at = at + units + 1
    return true
  }

  #append(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start
    this.#reserve(length)
    const buffer = this.#buffer
    if (length < shortBytes) for (let i = 0; i < length; i++) buffer[this.#at + i] = bytes[start + i]!
    else if (length === bytes.length) buffer.set(bytes, this.#at)
    else asBuffer(bytes).copy(buffer, this.#at, start, end)
    this.#at += length
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes > this.#limit) this.#grow(this.#at + bytes)
  }

  #grow(needed: number): void {
    const bytes = this.#buffer
    if (bytes === slab && this.#limit === slabUsed && needed <= slabBytes) {
      slabUsed = this.#limit = needed
      return
    }
    const base = this.#base
    const grown = Buffer.allocUnsafeSlow(Math.max(needed - base + 64, grownBytes(this.#limit - base)))
    bytes.copy(grown, 0, base, this.#at)
    this.#buffer = grown
    this.#shared = false
    this.#base = 0
    this.#at -= base
    this.#open -= base
    this.#limit = grown.length
  }
}

function grownBytes(sizeBytes: number): number {
  if (sizeBytes < largeBytes) return sizeBytes * 2
  return sizeBytes < veryLargeBytes ? sizeBytes * 4 : Math.max(sizeBytes * 2, largestReplyBytes)
}

const indexNames = Array.from({ length: 1024 }, (_, i) => String(i))

export function arrayIndexName(index: number): string {
  return indexNames[index] ?? String(index)
}
