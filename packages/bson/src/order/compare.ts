/**
 * The canonical order of BSON values. Manual: comparison and sort order of BSON types; server:
 * `BSONElement::compareElements`, `BSONObj::woCompare`.
 *
 * Types rank first (`canonicalType`). Within a rank: numbers mathematically, strings and code by
 * UTF-8 bytes, objects field by field (rank, name, value), arrays element by element, binary by
 * length, subtype, bytes, dates signed, timestamps unsigned, regular expressions by pattern, then
 * flags.
 */
import { compareInt64, compareNumbers } from './number-order.js'
import { asBuffer, readUtf8, type RawValue } from '../values/raw-value.js'
import { readInt32, readUint32 } from '../bytes/little-endian.js'
import { cstringEnd, valueEnd } from '../scan/scan.js'
import { BsonType, canonicalType } from '../values/types.js'

/** Compares by a collation. The result is negative, zero or positive. */
export type StringComparator = (a: string, b: string) => number

/**
 * Returns -1, 0 or 1. A missing value (`undefined`) equals BSON undefined. `strings` replaces byte
 * order for strings and symbols, also inside documents; field names and code keep byte order.
 */
export function compareValues(a: RawValue | undefined, b: RawValue | undefined, strings?: StringComparator): number {
  if (a === undefined) return b === undefined || b.type === BsonType.undefined ? 0 : b.type === BsonType.minKey ? 1 : -1
  if (b === undefined) return a.type === BsonType.undefined ? 0 : a.type === BsonType.minKey ? -1 : 1
  if (a.type !== b.type) {
    const aRank = canonicalType(a.type)
    const bRank = canonicalType(b.type)
    if (aRank !== bRank) return aRank < bRank ? -1 : 1
  }
  return compareSameRank(a.type, a.bytes, a.start, a.end, b.type, b.bytes, b.start, b.end, strings)
}

/** Field by field; the document that ends first is the smaller. */
export function compareDocuments(a: Uint8Array, b: Uint8Array, strings?: StringComparator): number {
  return compareFields(a, 0, b, 0, true, strings)
}

/** int32 1 equals double 1. */
export function valuesEqual(a: RawValue | undefined, b: RawValue | undefined, strings?: StringComparator): boolean {
  return compareValues(a, b, strings) === 0
}

function compareSameRank(
  aType: number,
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  bType: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
  strings: StringComparator | undefined,
): number {
  switch (aType) {
    case BsonType.int32:
    case BsonType.double:
    case BsonType.int64:
    case BsonType.decimal128:
      return compareNumbers(aType, a, aStart, bType, b, bStart)
    case BsonType.string:
    case BsonType.symbol:
      if (strings !== undefined) {
        const order = strings(readUtf8(a, aStart + 4, aEnd - 1), readUtf8(b, bStart + 4, bEnd - 1))
        return order < 0 ? -1 : order > 0 ? 1 : 0
      }
      return compareBytes(a, aStart + 4, aEnd - 1, b, bStart + 4, bEnd - 1)
    case BsonType.code:
      return compareBytes(a, aStart + 4, aEnd - 1, b, bStart + 4, bEnd - 1)
    case BsonType.object:
      return compareFields(a, aStart, b, bStart, true, strings)
    case BsonType.array:
      return compareFields(a, aStart, b, bStart, false, strings)
    case BsonType.objectId:
    case BsonType.bool:
      return compareBytes(a, aStart, aEnd, b, bStart, bEnd)
    case BsonType.binary:
      return aEnd - aStart === bEnd - bStart
        ? compareBytes(a, aStart + 4, aEnd, b, bStart + 4, bEnd)
        : aEnd - aStart < bEnd - bStart
          ? -1
          : 1
    case BsonType.date:
      return compareInt64(a, aStart, b, bStart)
    case BsonType.timestamp: {
      const order = compareUint32(a, aStart + 4, b, bStart + 4)
      return order === 0 ? compareUint32(a, aStart, b, bStart) : order
    }
    case BsonType.regex:
      return compareBytes(a, aStart, aEnd, b, bStart, bEnd)
    case BsonType.dbPointer:
      return aEnd - aStart === bEnd - bStart
        ? compareBytes(a, aStart, aEnd, b, bStart, bEnd)
        : aEnd - aStart < bEnd - bStart
          ? -1
          : 1
    case BsonType.codeWithScope: {
      const aScope = aStart + 8 + readInt32(a, aStart + 4)
      const bScope = bStart + 8 + readInt32(b, bStart + 4)
      const order = compareBytes(a, aStart + 8, aScope - 1, b, bStart + 8, bScope - 1)
      return order === 0 ? compareFields(a, aScope, b, bScope, true, strings) : order
    }
    default:
      return 0
  }
}

/** The names of array elements are not compared. */
function compareFields(
  a: Uint8Array,
  aDocument: number,
  b: Uint8Array,
  bDocument: number,
  named: boolean,
  strings: StringComparator | undefined,
): number {
  let aAt = aDocument + 4
  let bAt = bDocument + 4
  for (;;) {
    const aType = a[aAt]!
    const bType = b[bAt]!
    if (aType === 0) return bType === 0 ? 0 : -1
    if (bType === 0) return 1
    if (aType !== bType) {
      const aRank = canonicalType(aType)
      const bRank = canonicalType(bType)
      if (aRank !== bRank) return aRank < bRank ? -1 : 1
    }
    const aStart = cstringEnd(a, aAt + 1)
    const bStart = cstringEnd(b, bAt + 1)
    if (named) {
      const order = compareBytes(a, aAt + 1, aStart - 1, b, bAt + 1, bStart - 1)
      if (order !== 0) return order
    }
    aAt = valueEnd(aType, a, aStart)
    bAt = valueEnd(bType, b, bStart)
    const order = compareSameRank(aType, a, aStart, aAt, bType, b, bStart, bAt, strings)
    if (order !== 0) return order
  }
}

function compareUint32(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): number {
  const left = readUint32(a, aAt)
  const right = readUint32(b, bAt)
  return left < right ? -1 : left > right ? 1 : 0
}

/** Byte order; a proper prefix is smaller. */
export function compareBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const aLength = aEnd - aStart
  const bLength = bEnd - bStart
  const length = aLength < bLength ? aLength : bLength
  if (length > 64) return asBuffer(a).compare(b, bStart, bEnd, aStart, aEnd)
  for (let i = 0; i < length; i++) {
    const left = a[aStart + i]!
    const right = b[bStart + i]!
    if (left !== right) return left < right ? -1 : 1
  }
  return aLength === bLength ? 0 : aLength < bLength ? -1 : 1
}
