/**
 * The server's rules for BSON in messages, written without the packages under test: one function
 * per value, exceptions instead of a state machine.
 */

/** Invalid BSON, with the server's code: 22 InvalidBSON, 15 Overflow (nested too deep). */
export class BsonViolation extends Error {
  readonly code: number

  private constructor(code: number) {
    super(`BSON error ${code}`)
    this.code = code
  }

  // One for each message would record a stack each time, which takes longer than all rules.
  static readonly invalid = new BsonViolation(22)
  static readonly tooDeep = new BsonViolation(15)
}

const depthMax = 200

/** Bytes of the types with a fixed size. */
const fixedSizes = new Map([
  [0x01, 8],
  [0x06, 0],
  [0x07, 12],
  [0x09, 8],
  [0x0a, 0],
  [0x10, 4],
  [0x11, 8],
  [0x12, 8],
  [0x13, 16],
  [0x7f, 0],
  [0xff, 0],
])

class Reader {
  readonly #view: DataView
  readonly #end: number
  at: number

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.at = start
    this.#end = end
  }

  /** Every value is followed by at least the terminator of its document. */
  skip(count: number): void {
    this.at += count
    if (count < 0 || this.at >= this.#end) throw BsonViolation.invalid
  }

  byte(): number {
    const value = this.#view.getUint8(this.at)
    this.skip(1)
    return value
  }

  int32(): number {
    const { at } = this
    this.skip(4)
    return this.#view.getInt32(at, true)
  }

  uint32(): number {
    return this.int32() >>> 0
  }

  name(): void {
    // The last byte of the whole document is zero.
    while (this.#view.getUint8(this.at) !== 0) this.at++
    this.at++
  }

  text(): void {
    const length = this.uint32()
    this.skip(length)
    if (length === 0 || this.#view.getUint8(this.at - 1) !== 0) throw BsonViolation.invalid
  }

  peek(): number {
    if (this.at >= this.#end) throw BsonViolation.invalid
    return this.#view.getUint8(this.at)
  }
}

/**
 * Checks the document at `start`, which must end before `limit`.
 * @returns its end
 * @throws {@link BsonViolation}
 */
export function endOfDocument(bytes: Uint8Array, start: number, limit: number): number {
  if (limit - start < 5) throw BsonViolation.invalid
  const size = new DataView(bytes.buffer, bytes.byteOffset).getInt32(start, true)
  const end = start + size
  if (size < 5 || end > limit || bytes[end - 1] !== 0) throw BsonViolation.invalid
  const reader = new Reader(bytes, start + 4, end)
  readElements(reader, 0)
  if (reader.at !== end) throw BsonViolation.invalid
  return end
}

/** A field of a document that {@link endOfDocument} accepted. */
export interface Field {
  readonly type: number
  readonly name: string
  /** Where its value begins. */
  readonly at: number
}

/** The fields of the document at `start`, without those of documents in it. */
export function fieldsOf(bytes: Uint8Array, start = 0): Field[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const end = start + text.readInt32LE(start)
  const reader = new Reader(bytes, start + 4, end)
  const fields: Field[] = []
  while (reader.peek() !== 0) {
    const type = reader.peek()
    const nameAt = reader.at + 1
    reader.at++
    reader.name()
    fields.push({ type, name: text.toString('latin1', nameAt, reader.at - 1), at: reader.at })
    readValue(reader, type, 0)
  }
  return fields
}

function readElements(reader: Reader, depth: number): void {
  while (reader.peek() !== 0) {
    const type = reader.peek()
    reader.at++
    reader.name()
    readValue(reader, type, depth)
  }
  reader.at++
}

function readValue(reader: Reader, type: number, depth: number): void {
  const size = fixedSizes.get(type)
  if (size !== undefined) return reader.skip(size)
  switch (type) {
    case 0x02:
    case 0x0d:
    case 0x0e:
      return reader.text()
    case 0x03:
    case 0x04:
      return readNested(reader, depth + 1, () => readElements(reader, depth + 1))
    case 0x05: {
      const length = reader.uint32()
      reader.byte()
      return reader.skip(length)
    }
    case 0x08:
      if (reader.byte() > 1) throw BsonViolation.invalid
      return
    case 0x0b:
      reader.skip(0)
      for (let part = 0; part < 2; part++) {
        reader.name()
        reader.skip(0)
      }
      return
    case 0x0c:
      reader.text()
      return reader.skip(12)
    case 0x0f:
      return readNested(reader, depth + 1, () => {
        reader.text()
        readNested(reader, depth + 2, () => readElements(reader, depth + 2))
      })
    default:
      throw BsonViolation.invalid
  }
}

function readNested(reader: Reader, depth: number, read: () => void): void {
  if (depth > depthMax) throw BsonViolation.tooDeep
  const start = reader.at
  const size = reader.int32()
  if (size < 5) throw BsonViolation.invalid
  read()
  if (reader.at !== start + size) throw BsonViolation.invalid
}
