import { BSON } from 'bson'
import { readInt32 } from '../bytes/little-endian.js'
import { FieldIterator } from '../scan/scan.js'
import { asBuffer, RawValue, readUtf8 } from '../values/raw-value.js'
import { BsonType } from '../values/types.js'

/**
 * Relaxed by default. Fields keep their order, repeated names included, and an int64 all its
 * digits. Invalid UTF-8 becomes U+FFFD.
 */
export function toExtendedJson(bytes: Uint8Array, options: { canonical?: boolean } = {}): string {
  return textOfDocument(bytes, 0, options.canonical === true)
}

function textOfDocument(bytes: Uint8Array, start: number, canonical: boolean): string {
  let text = ''
  for (const it = new FieldIterator(bytes, start); it.next();)
    text += `${text === '' ? '' : ','}${JSON.stringify(it.name())}:${textOfValue(it.value(), canonical)}`
  return `{${text}}`
}

function textOfArray(bytes: Uint8Array, start: number, canonical: boolean): string {
  let text = ''
  for (const it = new FieldIterator(bytes, start); it.next();)
    text += `${text === '' ? '' : ','}${textOfValue(it.value(), canonical)}`
  return `[${text}]`
}

function textOfValue(value: RawValue, canonical: boolean): string {
  switch (value.type) {
    case BsonType.object:
      return textOfDocument(value.bytes, value.start, canonical)
    case BsonType.array:
      return textOfArray(value.bytes, value.start, canonical)
    case BsonType.int32:
      return canonical ? `{"$numberInt":"${value.asBigInt()}"}` : String(value.asBigInt())
    case BsonType.int64:
      return canonical ? `{"$numberLong":"${value.asBigInt()}"}` : String(value.asBigInt())
    case BsonType.double:
      // Of JSON in JavaScript, the sign would be lost.
      return !canonical && Object.is(value.asNumber(), -0) ? '-0.0' : textOfScalar(value, canonical)
    case BsonType.string:
      return JSON.stringify(value.asString())
    case BsonType.minKey:
      return '{"$minKey":1}'
    case BsonType.maxKey:
      return '{"$maxKey":1}'
    case BsonType.codeWithScope: {
      const { bytes, start } = value
      const scope = start + 8 + readInt32(bytes, start + 4)
      const code = JSON.stringify(readUtf8(bytes, start + 8, scope - 1))
      return `{"$code":${code},"$scope":${textOfDocument(bytes, scope, canonical)}}`
    }
    case BsonType.date: {
      const ms = value.asBigInt()
      // The library writes these as invalid dates.
      const isTooFar = ms > longestDateMs || ms < -longestDateMs
      return isTooFar ? `{"$date":{"$numberLong":"${ms}"}}` : textOfScalar(value, canonical)
    }
    // Of these the library refuses what clients may send: unknown options, malformed vectors.
    case BsonType.binary: {
      const { bytes, start, end } = value
      const subtype = bytes[start + 4]!
      const from = start + (subtype === oldBinarySubtype ? 9 : 5)
      const base64 = asBuffer(bytes).toString('base64', from, end)
      return `{"$binary":{"base64":"${base64}","subType":"${subtype.toString(16).padStart(2, '0')}"}}`
    }
    case BsonType.regex: {
      const { bytes, start, end } = value
      const patternEnd = bytes.indexOf(0, start)
      const pattern = JSON.stringify(readUtf8(bytes, start, patternEnd))
      const options = JSON.stringify([...readUtf8(bytes, patternEnd + 1, end - 1)].sort().join(''))
      return `{"$regularExpression":{"pattern":${pattern},"options":${options}}}`
    }
    default:
      return textOfScalar(value, canonical)
  }
}

/** The library's text of a value without names of fields, which it would reorder. */
function textOfScalar(value: RawValue, canonical: boolean): string {
  const length = value.end - value.start
  const document = Buffer.alloc(length + 8)
  document.writeInt32LE(document.length, 0)
  document[4] = value.type
  document[5] = nameOfScalar.charCodeAt(0)
  document.set(value.slice(), 7)
  const decoded = BSON.deserialize(document, {
    promoteValues: false,
    promoteBuffers: false,
    bsonRegExp: true,
    validation: { utf8: false },
  })
  const text = BSON.EJSON.stringify(decoded, { relaxed: !canonical })
  return text.slice(`{"${nameOfScalar}":`.length, -1)
}

/** Of a Date in JavaScript. */
const longestDateMs = 8_640_000_000_000_000n
const nameOfScalar = 'v'
/** Its bytes begin with their length. */
const oldBinarySubtype = 2
