/**
 * Is this a well-formed document? Every byte that enters from outside passes here once; everything behind trusts the
 * structure. Safe on arbitrary bytes: no exception, no read outside the range, no work beyond one pass.
 *
 * Server: `validateBSON` in its default mode, as it runs on every message. So UTF-8 is not checked, names may repeat,
 * array indexes may be anything, and unknown binary subtypes are fine; the length inside the old binary subtype 2 is
 * checked here, though not there, since clients cannot read such a value. Reasons are worded as the server words them.
 */
import { readUtf8 } from './raw-value.js'
import { readInt32 } from './read.js'
import { BsonType } from './types.js'

/** How deep documents and arrays may lie in the outermost one. Server: `maxBSONDepth`. */
export const defaultMaxDepth = 200

const tooDeep = 'BSONObj exceeds maximum nested object depth'
const outOfRange = 'BSON size is larger than buffer size'

const special = 0xff
const withLength = 0xfe
const nested = 0xfd
/** Size of a value by its type byte, or one of the three marks above. */
const sizes = new Uint8Array(256).fill(special)
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
  sizes[type] = size
}

/** Ends of the open documents, the outermost first; for a code with scope its own end, then its scope's. */
let ends = new Int32Array(defaultMaxDepth + 2)
/** Where the element that opened each of them stands. */
let openers = new Int32Array(defaultMaxDepth + 2)
let depth = 0
/** The element under examination, for the message; -1 before the first. */
let element = -1

/**
 * Checks that the document at `start` fills the bytes up to `end` exactly and is well-formed throughout.
 * Returns null, or the reason with the field it was found in; `validationErrorCode` gives the code that goes with it.
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

/** The error code for a reason that {@link validateBson} gave: Overflow for too deep, else InvalidBSON. */
export function validationErrorCode(reason: string): 'Overflow' | 'InvalidBSON' {
  return reason.startsWith(tooDeep) ? 'Overflow' : 'InvalidBSON'
}

function validateDocument(bytes: Uint8Array, start: number, end: number, maxDepth: number): string | null {
  if (end - start < 5) return 'BSON data has to be at least 5 bytes'
  const length = readInt32(bytes, start)
  if (length < 5) return 'BSON data has to be at least 5 bytes'
  if (length !== end - start) return 'Incorrect BSON length'
  if (bytes[end - 1] !== 0) return 'BSON object not terminated with EOO'
  // The last byte of the range is zero, so that looking for a name's end stops within it.
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
      // Scope and code with scope end together.
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
    const size = sizes[type]!
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

/** One past a length, that many bytes and their NUL, or the negative index of the reason why there is none. */
function stringEnd(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < 5) return -1
  const length = readInt32(bytes, start)
  if (length < 0 || length >= end - start - 4) return -1
  return length === 0 || bytes[start + 3 + length] !== 0 ? -3 : start + 4 + length
}

/** One past a value of the rarer types, or as {@link stringEnd}. */
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

/** Dotted names of the open documents and the element; `?` when no element was reached. */
function elementPath(bytes: Uint8Array, end: number): string {
  if (element < 0) return '?'
  const places = new Set<number>(openers.subarray(1, depth + 1))
  places.add(element)
  return [...places].map((place) => readUtf8(bytes, place + 1, Math.min(bytes.indexOf(0, place + 1), end))).join('.')
}
