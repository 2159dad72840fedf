/**
 * KeyString: a tuple of values as one flat latin1 string whose JavaScript order (`<`) is the
 * canonical order of the tuple. Trees, maps and binary searches therefore need no comparator. The
 * idea is the server's; the format is ours.
 *
 * Every value starts with a byte for its rank (0x10 to 0xe0) and is prefix-free: no encoding of a
 * value is a prefix of another. So the string of `(a)` is a proper prefix of every `(a, …)`, and of
 * two tuples of one length neither string is a prefix of the other. Descending fields are the same
 * bytes inverted; their ranks are 0x1f to 0xef, below 0xff.
 *
 *   number         floor as an ordered double (8 bytes), then 0; or, if the floor is not exact, 1,
 *                  the whole steps above it (2 bytes), then 0, or 1 and the decimal's digits if
 *                  that is not exact either
 *   string         UTF-8 with 00 as 01 01 and 01 as 01 02, then 00
 *   object         per field: rank, name 00, value; then 00
 *   array          per element: rank, value; then 00
 *   binary         length, subtype, bytes
 *   date           8 bytes with the sign flipped
 *   timestamp      8 bytes
 *   regex          pattern 00 flags 00
 *   dbPointer      size, bytes
 *   codeWithScope  as string, then as object
 */
import { ranks } from './key-string-ranks.js'
import { exactDouble, floorOf, nextBelow, scientific, type Finite } from '../order/number-order.js'
import { asBuffer, type RawValue } from '../values/raw-value.js'
import { readInt32, readInt64Number, readUint32 } from '../bytes/little-endian.js'
import { cstringEnd, FieldIterator, valueEnd } from '../scan/scan.js'
import { BsonType } from '../values/types.js'

let buffer = asBuffer(Buffer.alloc(4096))
let view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
let at = 0

/**
 * A missing value (`undefined`) is encoded as null, as in an index. `descending[i]` reverses the
 * order of field i; absent or too short means ascending.
 */
export function encodeKeyString(values: readonly (RawValue | undefined)[], descending?: readonly boolean[]): string {
  at = 0
  for (let i = 0; i < values.length; i++) {
    const start = at
    const value = values[i]
    if (value === undefined) {
      reserve(1)
      buffer[at++] = ranks[BsonType.null]!
    } else {
      writeRank(value.type)
      writePayload(value.type, value.bytes, value.start, value.end)
    }
    if (descending !== undefined && descending[i] === true) invert(start)
  }
  return finished()
}

/** The KeyString of a document's values in order, without their names. */
export function keyStringOfDocument(document: Uint8Array, descending?: readonly boolean[]): string {
  at = 0
  const it = new FieldIterator(document)
  for (let i = 0; it.next(); i++) {
    const start = at
    writeRank(it.type)
    writePayload(it.type, document, it.valueStart, it.valueEnd)
    if (descending !== undefined && descending[i] === true) invert(start)
  }
  return finished()
}

/**
 * The unsigned 32-bit hash of a value's KeyString, without creating the string. Values that are
 * equal as keys have equal hashes.
 */
export function keyStringHash({ type, bytes, start, end }: RawValue): number {
  at = 0
  writeRank(type)
  writePayload(type, bytes, start, end)
  // FNV-1a, with the final mix of MurmurHash3: tables use the low bits.
  let hash = 0x811c9dc5
  for (let i = 0; i < at; i++) hash = Math.imul(hash ^ buffer[i]!, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** A string above every KeyString with this prefix, and below every other greater KeyString. */
export function keyStringUpperBound(prefix: string): string {
  const length = prefix.length
  at = 0
  reserve(length + 1)
  buffer.latin1Write(prefix, 0, length)
  buffer[length] = 0xff
  return buffer.latin1Slice(0, length + 1)
}

/**
 * Most keys are one number or one ObjectId: for so few bytes a call out of JavaScript would cost
 * more than the encoding.
 */
function finished(): string {
  const b = buffer
  if (at === 10) return String.fromCharCode(b[0]!, b[1]!, b[2]!, b[3]!, b[4]!, b[5]!, b[6]!, b[7]!, b[8]!, b[9]!)
  if (at === 13)
    return String.fromCharCode(
      b[0]!,
      b[1]!,
      b[2]!,
      b[3]!,
      b[4]!,
      b[5]!,
      b[6]!,
      b[7]!,
      b[8]!,
      b[9]!,
      b[10]!,
      b[11]!,
      b[12]!,
    )
  return b.latin1Slice(0, at)
}

function reserve(bytes: number): void {
  const needed = at + bytes
  if (needed <= buffer.length) return
  const grown = Buffer.alloc(Math.max(needed, buffer.length * 2))
  buffer.copy(grown, 0, 0, at)
  buffer = asBuffer(grown)
  view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
}

function invert(start: number): void {
  for (let i = start; i < at; i++) buffer[i] = ~buffer[i]!
}

function writeRank(type: number): void {
  const rank = ranks[type]!
  if (rank === 0) throw new Error(`not a BSON type: ${type}`)
  reserve(1)
  buffer[at++] = rank
}

function writePayload(type: number, bytes: Uint8Array, start: number, end: number): void {
  switch (type) {
    case BsonType.int32:
    case BsonType.double:
    case BsonType.int64:
    case BsonType.decimal128:
      return writeNumber(type, bytes, start)
    case BsonType.string:
    case BsonType.symbol:
    case BsonType.code:
      return writeEscaped(bytes, start + 4, end - 1)
    case BsonType.objectId:
    case BsonType.bool:
    case BsonType.regex:
      return writeBytes(bytes, start, end)
    case BsonType.object:
      return writeFields(bytes, start, true)
    case BsonType.array:
      return writeFields(bytes, start, false)
    case BsonType.date:
      writeReversed(bytes, start)
      buffer[at - 8]! ^= 0x80
      return
    case BsonType.timestamp:
      return writeReversed(bytes, start)
    case BsonType.binary:
      writeLength(end - start)
      return writeBytes(bytes, start + 4, end)
    case BsonType.dbPointer:
      writeLength(end - start)
      return writeBytes(bytes, start, end)
    case BsonType.codeWithScope: {
      const scope = start + 8 + readInt32(bytes, start + 4)
      writeEscaped(bytes, start + 8, scope - 1)
      return writeFields(bytes, scope, true)
    }
  }
}

function writeNumber(type: number, bytes: Uint8Array, start: number): void {
  const double = exactDouble(type, bytes, start)
  if (double !== undefined) {
    writeOrderedDouble(double)
    buffer[at++] = 0
  } else if (type === BsonType.int64) writeWideInteger(bytes, start)
  else writeDecimal(bytes, start)
}

/** An int64 beyond 53 bits, as every hashed key is. Avoids bigint. */
function writeWideInteger(bytes: Uint8Array, start: number): void {
  const valueHigh = readInt32(bytes, start + 4)
  const valueLow = readUint32(bytes, start)
  let floor = readInt64Number(bytes, start)
  let high = Math.floor(floor / 0x1_0000_0000)
  let low = floor - high * 0x1_0000_0000
  if (high > valueHigh || (high === valueHigh && low > valueLow)) {
    floor = nextBelow(floor)
    high = Math.floor(floor / 0x1_0000_0000)
    low = floor - high * 0x1_0000_0000
  }
  writeOrderedDouble(floor)
  const above = (valueLow - low) >>> 0
  if (above === 0) {
    buffer[at++] = 0
    return
  }
  writeAbove(above)
  buffer[at++] = 0
}

function writeDecimal(bytes: Uint8Array, start: number): void {
  const { floor, exact } = floorOf(BsonType.decimal128, bytes, start)
  writeOrderedDouble(floor)
  if (exact === null) {
    buffer[at++] = 0
    return
  }
  const whole = floor >= -(2 ** 63) && floor < 2 ** 63 ? wholeNumber(exact) : null
  writeAbove(whole === null || !Number.isInteger(floor) ? 0 : Number(whole.floor - BigInt(floor)))
  if (whole !== null && whole.isExact) {
    buffer[at++] = 0
    return
  }
  const { digits, exponent } = scientific(exact)
  reserve(digits.length + 4)
  buffer[at++] = 1
  const from = at
  view.setUint16(at, exponent + 0x8000)
  at += 2
  for (let i = 0; i < digits.length; i++) buffer[at++] = digits.charCodeAt(i)
  buffer[at++] = 0
  if (exact.negative) invert(from)
}

/** The decimal must be within the int64 range. */
function wholeNumber(decimal: Finite): { floor: bigint; isExact: boolean } {
  const signed = decimal.negative ? -decimal.coefficient : decimal.coefficient
  if (decimal.exponent >= 0) return { floor: signed * 10n ** BigInt(decimal.exponent), isExact: true }
  const unit = 10n ** BigInt(-decimal.exponent)
  const rest = signed % unit
  return { floor: (signed - rest) / unit - (rest < 0n ? 1n : 0n), isExact: rest === 0n }
}

/** `steps`: the number minus its floor. At most 1023 within the int64 range, 0 beyond it. */
function writeAbove(steps: number): void {
  reserve(4)
  buffer[at] = 1
  view.setUint16(at + 1, steps)
  at += 3
}

/** NaN is all zeros, below minus infinity. Reserves one byte more than it writes. */
function writeOrderedDouble(double: number): void {
  reserve(9)
  if (double > 0) {
    view.setFloat64(at, double)
    buffer[at]! ^= 0x80
  } else if (double < 0) {
    view.setFloat64(at, double)
    invertEight()
  } else {
    view.setFloat64(at, 0)
    if (double === 0) buffer[at] = 0x80
  }
  at += 8
}

function invertEight(): void {
  view.setInt32(at, ~view.getInt32(at))
  view.setInt32(at + 4, ~view.getInt32(at + 4))
}

function writeEscaped(bytes: Uint8Array, start: number, end: number): void {
  reserve((end - start) * 2 + 1)
  const target = buffer
  let to = at
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    if (byte > 1) target[to++] = byte
    else {
      target[to++] = 1
      target[to++] = byte + 1
    }
  }
  target[to++] = 0
  at = to
}

function writeBytes(bytes: Uint8Array, start: number, end: number): void {
  const length = end - start
  reserve(length)
  if (length <= 24) for (let i = 0; i < length; i++) buffer[at + i] = bytes[start + i]!
  else asBuffer(bytes).copy(buffer, at, start, end)
  at += length
}

function writeLength(length: number): void {
  reserve(4)
  view.setUint32(at, length)
  at += 4
}

function writeReversed(bytes: Uint8Array, start: number): void {
  reserve(8)
  for (let i = 0; i < 8; i++) buffer[at + i] = bytes[start + 7 - i]!
  at += 8
}

function writeFields(bytes: Uint8Array, documentStart: number, named: boolean): void {
  let from = documentStart + 4
  for (;;) {
    const type = bytes[from]!
    if (type === 0) break
    const start = cstringEnd(bytes, from + 1)
    const end = valueEnd(type, bytes, start)
    writeRank(type)
    if (named) writeBytes(bytes, from + 1, start)
    writePayload(type, bytes, start, end)
    from = end
  }
  reserve(1)
  buffer[at++] = 0
}
