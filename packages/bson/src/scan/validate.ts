/**
 * All bytes from outside pass here once; all other code trusts the structure. Safe on arbitrary
 * bytes: no exception, no read outside the range, one pass.
 *
 * Server: `validateBSON` in its default mode. UTF-8 is not checked, names may repeat, array indexes
 * are arbitrary and unknown binary subtypes are valid. Unlike the server, this checks the length
 * inside the old binary subtype 2, since clients cannot read a value with a wrong one. The reasons
 * are the server's texts.
 */
import { readUtf8 } from '../values/raw-value.js'
import { readInt32 } from '../bytes/little-endian.js'
import { BsonType } from '../values/types.js'

/** Server: `maxBSONDepth`. */
export const defaultMaxDepth = 200

const tooDeep = 'BSONObj exceeds maximum nested object depth'
const outOfRange = 'BSON size is larger than buffer size'

const special = 0xff
const withLength = 0xfe
const nested = 0xfd
/** The size, or one of the three constants above. */
const sizeOrKind = new Uint8Array(256).fill(special)
for (const [type, size] of [
  [BsonType.double, 8],
  [BsonType.string, withLength],
  [BsonType.object, nested],
  [BsonType.array, nested],
  [BsonType.undefined, 0],
  [BsonType.objectId, 12],
  [BsonType.date, 8],
  [BsonType.null, 0],
  [BsonType.code, withLength],
  [BsonType.symbol, withLength],
  [BsonType.int32, 4],
  [BsonType.timestamp, 8],
  [BsonType.int64, 8],
  [BsonType.decimal128, 16],
  [BsonType.minKey, 0],
  [BsonType.maxKey, 0],
] as const) {
  sizeOrKind[type] = size
}

/** Outermost first. A code with scope has two entries: its own end, then its scope's. */
let ends = new Int32Array(defaultMaxDepth + 2)
/** Offset of the element that opened each document in `ends`. */
let openers = new Int32Array(defaultMaxDepth + 2)
let depth = 0
/** For the message; -1 before the first element. */
let element = -1

/**
 * @returns null: the document is well-formed and ends exactly at `end`; else the reason with the
 *   path of the field
 */
export function validateBson(
  bytes: Uint8Array,
  start = 0,
  end = bytes.length,
  options: { maxDepth?: number } = {},
): string | null {
  const maxDepth = options.maxDepth ?? defaultMaxDepth
  if (ends.length < maxDepth + 2) {
    ends = new Int32Array(maxDepth + 2)
    openers = new Int32Array(maxDepth + 2)
  }
  depth = 0
  element = -1
  const reason = validateDocument(bytes, start, end, maxDepth)
  return reason === null ? null : `${reason} in element with field name '${elementPath(bytes, end)}'`
}

/** For a reason from {@link validateBson}. Overflow: the document is too deep. */
export function validationErrorCode(reason: string): 'Overflow' | 'InvalidBSON' {
  return reason.startsWith(tooDeep) ? 'Overflow' : 'InvalidBSON'
}

function validateDocument(bytes: Uint8Array, start: number, end: number, maxDepth: number): string | null {
  if (end - start < 5) return 'BSON data has to be at least 5 bytes'
  const length = readInt32(bytes, start)
  if (length < 5) return 'BSON data has to be at least 5 bytes'
  if (length !== end - start) return 'Incorrect BSON length'
  if (bytes[end - 1] !== 0) return 'BSON object not terminated with EOO'
  // The last byte of the range is zero, so the search for a name's end stops there.
  ends[0] = end
  let at = start + 4
  for (;;) {
    if (at >= end) return outOfRange
    const type = bytes[at]!
    if (type === 0) {
      at++
      if (at !== ends[depth]) return 'incorrect BSON length'
      if (depth === 0) return null
      depth--
      // A code with scope ends where its scope ends.
      if (bytes[openers[depth + 1]!] === BsonType.codeWithScope) {
        if (at !== ends[depth]) return 'incorrect BSON length'
        depth--
      }
      continue
    }
    element = at
    do at++
    while (bytes[at] !== 0)
    at++
    const size = sizeOrKind[type]!
    if (size < nested) at += size
    else if (size === nested || type === BsonType.codeWithScope) {
      if (depth === maxDepth) return tooDeep
      if (end - at < 5) return outOfRange
      const nestedLength = readInt32(bytes, at)
      if (nestedLength < 5) return 'Nested BSON object has to be at least 5 bytes'
      depth++
      ends[depth] = at + nestedLength
      openers[depth] = element
      at += 4
      if (size === special) {
        if (depth === maxDepth) return tooDeep
        at = stringEnd(bytes, at, end)
        if (at < 0) return reasons[-at]!
        if (end - at < 5) return outOfRange
        const scopeLength = readInt32(bytes, at)
        if (scopeLength < 5) return 'Nested BSON object has to be at least 5 bytes'
        depth++
        ends[depth] = at + scopeLength
        openers[depth] = element
        at += 4
      }
    } else {
      at = size === withLength ? stringEnd(bytes, at, end) : specialEnd(type, bytes, at, end)
      if (at < 0) return at === unknownType ? `Unrecognized BSON type ${type}` : reasons[-at]!
    }
  }
}

const unknownType = -5
const reasons = [
  '',
  outOfRange,
  'BSON bool is neither false nor true',
  'Not null terminated string',
  'incorrect BSON length',
] as const

/**
 * The offset after the string's NUL, or the negated index of the reason why the string is invalid.
 */
function stringEnd(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < 5) return -1
  const length = readInt32(bytes, start)
  if (length < 0 || length >= end - start - 4) return -1
  return length === 0 || bytes[start + 3 + length] !== 0 ? -3 : start + 4 + length
}

/** The offset after the value, or as {@link stringEnd}. */
function specialEnd(type: number, bytes: Uint8Array, start: number, end: number): number {
  let at = start
  switch (type) {
    case BsonType.bool:
      if (end - at < 2) return -1
      return bytes[at]! > 1 ? -2 : at + 1
    case BsonType.binary: {
      if (end - at < 6) return -1
      const length = readInt32(bytes, at)
      if (length < 0 || length >= end - at - 5) return -1
      if (bytes[at + 4] === 2 && (length < 4 || readInt32(bytes, at + 5) !== length - 4)) return -4
      return at + 5 + length
    }
    case BsonType.regex:
      for (let part = 0; part < 2; part++) {
        if (at >= end) return -1
        while (bytes[at] !== 0) at++
        at++
      }
      return at
    case BsonType.dbPointer:
      at = stringEnd(bytes, at, end)
      return at < 0 ? at : at + 12 < end ? at + 12 : -1
    default:
      return unknownType
  }
}

/** `?` before the first element. */
function elementPath(bytes: Uint8Array, end: number): string {
  if (element < 0) return '?'
  const places = new Set<number>(openers.subarray(1, depth + 1))
  places.add(element)
  return [...places].map((place) => readUtf8(bytes, place + 1, Math.min(bytes.indexOf(0, place + 1), end))).join('.')
}
