/**
 * Builds one document front to back, field by field, in a buffer that grows. Values that exist as bytes are
 * copied, never decoded. Not to be used after `finish`.
 */
import { asBuffer, type RawValue } from './raw-value.js'
import { readInt32, writeDouble, writeInt32, writeInt64 } from './read.js'
import { BsonType } from './types.js'

export class DocumentWriter {
  #buffer: Buffer
  #at = 4
  /** Offsets of the length prefixes of the documents that are open, the outermost first. */
  readonly #open: number[] = [0]

  constructor(sizeHintBytes = 256) {
    this.#buffer = Buffer.allocUnsafe(Math.max(16, sizeHintBytes))
  }

  /** Bytes written so far in the outermost document, its end not counted. */
  get length(): number {
    return this.#at
  }

  value(name: string, value: RawValue): this {
    this.#header(value.type, name)
    this.#append(value.bytes, value.start, value.end)
    return this
  }

  /** A value by its type and exact bytes. */
  raw(name: string, type: number, bytes: Uint8Array): this {
    this.#header(type, name)
    this.#append(bytes, 0, bytes.length)
    return this
  }

  document(name: string, bytes: Uint8Array): this {
    return this.raw(name, BsonType.object, bytes)
  }

  /** An array of documents. */
  documents(name: string, documents: readonly Uint8Array[]): this {
    this.startArray(name)
    for (let i = 0; i < documents.length; i++) this.document(arrayIndexName(i), documents[i]!)
    return this.end()
  }

  /** Copies every field of a document to this level. */
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
    writeInt64(this.#buffer, this.#at, BigInt(value))
    this.#at += 8
    return this
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
    const length = Buffer.byteLength(value)
    this.#reserve(length + 5)
    writeInt32(this.#buffer, this.#at, length + 1)
    this.#buffer.write(value, this.#at + 4, length, 'utf8')
    this.#at += 4 + length
    this.#buffer[this.#at++] = 0
    return this
  }

  objectId(name: string, bytes: Uint8Array): this {
    return this.raw(name, BsonType.objectId, bytes)
  }

  /** Milliseconds since the epoch. */
  date(name: string, ms: number): this {
    this.#header(BsonType.date, name)
    this.#reserve(8)
    writeInt64(this.#buffer, this.#at, BigInt(ms))
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

  /** BinData subtype 4. */
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

  /** Closes the innermost open document or array. */
  end(): this {
    if (this.#open.length < 2) throw new Error('no embedded document is open')
    this.#close(this.#open.pop()!)
    return this
  }

  /** The finished document, exactly sized. */
  finish(): Uint8Array {
    if (this.#open.length !== 1) throw new Error('an embedded document is still open')
    this.#close(0)
    const bytes = this.#buffer
    return bytes.length - this.#at < 64 ? bytes.subarray(0, this.#at) : Buffer.from(bytes.subarray(0, this.#at))
  }

  #start(type: number, name: string): this {
    this.#header(type, name)
    this.#reserve(4)
    this.#open.push(this.#at)
    this.#at += 4
    return this
  }

  #close(start: number): void {
    this.#reserve(1)
    this.#buffer[this.#at++] = 0
    writeInt32(this.#buffer, start, this.#at - start)
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

  #append(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start
    this.#reserve(length)
    const buffer = this.#buffer
    if (length < 24) for (let i = 0; i < length; i++) buffer[this.#at + i] = bytes[start + i]!
    else asBuffer(bytes).copy(buffer, this.#at, start, end)
    this.#at += length
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes
    if (needed <= this.#buffer.length) return
    const grown = Buffer.allocUnsafe(Math.max(needed + 64, this.#buffer.length * 2))
    this.#buffer.copy(grown, 0, 0, this.#at)
    this.#buffer = grown
  }
}

const indexNames = Array.from({ length: 1024 }, (_, i) => String(i))

/** `0`, `1`, …: the field names of array elements. */
export function arrayIndexName(index: number): string {
  return indexNames[index] ?? String(index)
}
