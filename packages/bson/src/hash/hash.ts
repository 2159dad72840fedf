/**
 * The server's hash of hashed indexes and hashed shard keys (`BSONElementHasher::hash64`, seed 0;
 * manual: hashed indexes, `$toHashedIndexKey`): the first 8 bytes of an MD5 over the seed, then per
 * value its canonical type as an int32, for nested values the field name, and the value's bytes.
 *
 * Numbers are first converted to int64: doubles are truncated (2^63 itself wraps to -2^63),
 * decimals rounded half to even, both clamped to the range; NaN is 0.
 */
import { md5 } from '@noble/hashes/legacy.js'
import { readDecimal128, type Decimal } from '../values/decimal128.js'
import { encodeKeyString } from '../key-string/key-string.js'
import { blockMessageBytesMax, md5HalfOfBlock } from './md5-block.js'
import { asBuffer, RawValue } from '../values/raw-value.js'
import { readDouble, readInt32, readInt64, writeInt32, writeInt64, writeInt64Number } from '../bytes/little-endian.js'
import { cstringEnd, valueEnd } from '../scan/scan.js'
import { BsonType, canonicalType } from '../values/types.js'

const seedBytes = 4
const maxInt64 = 2n ** 63n - 1n
const minInt64 = -(2n ** 63n)

let buffer = Buffer.alloc(1024)
let at = 0

/** Hashes share one array: a separate array of eight bytes would cost more than the hash. */
const hashesBytes = 4096
let hashes = new Uint8Array(hashesBytes)
let hashesUsed = 0
const single = new Uint8Array(8)

/** A missing value hashes as null. */
export function hashValue(value: RawValue | undefined): bigint {
  digest(value, single, 0)
  return readInt64(single, 0)
}

/** The form in hashed indexes and chunk bounds: an int64 value. */
export function hashedKeyValue(value: RawValue | undefined): RawValue {
  if (hashesUsed === hashesBytes) {
    hashes = new Uint8Array(hashesBytes)
    hashesUsed = 0
  }
  const start = hashesUsed
  hashesUsed += 8
  digest(value, hashes, start)
  return new RawValue(BsonType.int64, hashes, start, hashesUsed)
}

const hashScratch = new RawValue(BsonType.int64, single, 0, 8)

export function hashedKeyString(value: RawValue | undefined): string {
  digest(value, single, 0)
  return encodeKeyString([hashScratch])
}

function digest(value: RawValue | undefined, to: Uint8Array, toAt: number): void {
  at = seedBytes
  if (value === undefined) writeType(BsonType.null)
  else {
    writeType(value.type)
    writeValue(value.type, value.bytes, value.start, value.end)
  }
  if (at <= blockMessageBytesMax) md5HalfOfBlock(buffer, at, to, toAt)
  else to.set(md5(buffer.subarray(0, at)).subarray(0, 8), toAt)
}

function reserve(bytes: number): void {
  const needed = at + bytes
  if (needed <= buffer.length) return
  const grown = Buffer.alloc(Math.max(needed, buffer.length * 2))
  buffer.copy(grown, 0, 0, at)
  buffer = grown
}

function writeType(type: number): void {
  reserve(4)
  writeInt32(buffer, at, canonicalType(type))
  at += 4
}

function writeBytes(bytes: Uint8Array, start: number, end: number): void {
  reserve(end - start)
  asBuffer(bytes).copy(buffer, at, start, end)
  at += end - start
}

function writeValue(type: number, bytes: Uint8Array, start: number, end: number): void {
  switch (type) {
    case BsonType.int32:
      reserve(8)
      writeInt64Number(buffer, at, readInt32(bytes, start))
      at += 8
      return
    case BsonType.double:
    case BsonType.int64:
    case BsonType.decimal128:
      reserve(8)
      writeInt64(buffer, at, squash(type, bytes, start))
      at += 8
      return
    case BsonType.object:
    case BsonType.array:
      return writeFields(bytes, start)
    case BsonType.codeWithScope: {
      const scope = start + 8 + readInt32(bytes, start + 4)
      writeBytes(bytes, start + 8, scope)
      return writeFields(bytes, scope)
    }
    default:
      return writeBytes(bytes, start, end)
  }
}

function writeFields(bytes: Uint8Array, documentStart: number): void {
  let from = documentStart + 4
  for (;;) {
    const type = bytes[from]!
    if (type === 0) break
    const start = cstringEnd(bytes, from + 1)
    const end = valueEnd(type, bytes, start)
    writeType(type)
    writeBytes(bytes, from + 1, start)
    writeValue(type, bytes, start, end)
    from = end
  }
  reserve(4)
  writeInt32(buffer, at, 0)
  at += 4
}

function squash(type: number, bytes: Uint8Array, start: number): bigint {
  if (type === BsonType.int64) return readInt64(bytes, start)
  if (type === BsonType.decimal128) return squashDecimal(readDecimal128(bytes, start))
  const double = readDouble(bytes, start)
  if (Number.isNaN(double)) return 0n
  if (double > 2 ** 63) return maxInt64
  if (double < -(2 ** 63)) return minInt64
  return BigInt.asIntN(64, BigInt(Math.trunc(double)))
}

function squashDecimal(decimal: Decimal): bigint {
  if (decimal.kind === 'nan') return 0n
  if (decimal.kind === 'infinity') return decimal.negative ? minInt64 : maxInt64
  const value = roundHalfEven(decimal.coefficient, decimal.exponent)
  if (decimal.negative) return -value < minInt64 ? minInt64 : -value
  return value > maxInt64 ? maxInt64 : value
}

/**
 * `coefficient * 10 ** exponent`. A result beyond the int64 range may be too small, but is still
 * beyond the range.
 */
function roundHalfEven(coefficient: bigint, exponent: number): bigint {
  // Any non-zero coefficient times 10^20 exceeds an int64; 34 digits divided by 10^36 round to
  // zero.
  if (exponent >= 0) return coefficient * 10n ** BigInt(Math.min(exponent, 20))
  if (exponent < -35) return 0n
  const unit = 10n ** BigInt(-exponent)
  const whole = coefficient / unit
  const twice = (coefficient % unit) * 2n
  return twice > unit || (twice === unit && whole % 2n === 1n) ? whole + 1n : whole
}
