/**
 * Whole documents to and from JavaScript values, through the `bson` package: for command arguments, metadata and
 * tests. Users' documents never pass here on their way.
 */
import { BSON, type Document } from 'bson'
import { RawValue } from './raw-value.js'
import { documentValue, FieldIterator, findField } from './scan.js'
import { BsonType } from './types.js'

export {
  Binary,
  Code,
  DBRef,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
  BSONRegExp,
  BSONSymbol,
  EJSON,
  type Document,
} from 'bson'

/** Where `bson` makes documents: one buffer of this size. Of a longer document it returns what fitted and then anything, or throws. */
const bsonBufferBytes = 17 * 1024 * 1024

/** Serialises a plain object of any size; `undefined` properties are left out. */
export function encode(document: Document): Uint8Array {
  const options = { ignoreUndefined: true }
  try {
    const bytes = BSON.serialize(document, options)
    if (bytes.length <= bsonBufferBytes) return bytes
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  BSON.setInternalBufferSize(BSON.calculateObjectSize(document, options))
  return BSON.serialize(document, options)
}

/**
 * Reads a document into plain JavaScript: int32 and double become numbers, int64 becomes `Long` or, with
 * `promoteLongs`, a number; everything else the classes of the `bson` package. What is no UTF-8 in a string becomes
 * U+FFFD: a server takes such strings.
 */
export function decode(bytes: Uint8Array, options: { promoteLongs?: boolean } = {}): Document {
  return BSON.deserialize(bytes, {
    promoteLongs: options.promoteLongs ?? false,
    promoteBuffers: false,
    promoteValues: true,
    bsonRegExp: true,
    validation: { utf8: false },
  })
}

/** Any JavaScript or `bson` value as a raw value with bytes of its own. */
export function toRawValue(value: unknown): RawValue {
  if (value === undefined) return undefinedValue
  const bytes = BSON.serialize({ v: value })
  return findField(bytes, 'v')!
}

/** A raw value as JavaScript, by the rules of {@link decode}. */
export function fromRawValue(value: RawValue, options: { promoteLongs?: boolean } = {}): unknown {
  const wrapped = Buffer.alloc(value.end - value.start + 8)
  wrapped.writeInt32LE(wrapped.length, 0)
  wrapped[4] = value.type
  wrapped[5] = 0x76
  wrapped.set(value.slice(), 7)
  return decode(wrapped, options).v
}

/**
 * Relaxed or canonical Extended JSON text of a document, an int64 with all its digits. What is no UTF-8 in a string becomes U+FFFD.
 */
export function toExtendedJson(bytes: Uint8Array, options: { canonical?: boolean } = {}): string {
  const plain = options.canonical === true ? undefined : relaxedTextOfPlain(bytes)
  if (plain !== undefined) return plain
  const document = BSON.deserialize(bytes, {
    promoteValues: false,
    promoteBuffers: false,
    bsonRegExp: true,
    validation: { utf8: false },
  })
  if (options.canonical) return BSON.EJSON.stringify(document, { relaxed: false })
  const marked =
    !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(largeLong) && markLargeLongs(document)
  const text = BSON.EJSON.stringify(document, { relaxed: true })
  return marked ? text.replace(markedLongs, '$1') : text
}

/** A name that is nothing special to JavaScript or to Extended JSON. */
const plainName = /^(?:_id|[A-Za-z][\w.]*)$/

/** Of a document of integers, texts and ends of the key space, as most bounds of chunks are: without an object of it. Undefined: of others. */
function relaxedTextOfPlain(bytes: Uint8Array): string | undefined {
  const names: string[] = []
  let text = '{'
  for (const it = new FieldIterator(bytes); it.next();) {
    const name = it.name()
    const value = relaxedTextOfScalar(it.value())
    // Of a name that comes twice an object has the first place and the last value.
    if (value === undefined || !plainName.test(name) || names.includes(name)) return undefined
    text += `${names.length === 0 ? '' : ','}"${name}":${value}`
    names.push(name)
  }
  return text + '}'
}

function relaxedTextOfScalar(value: RawValue): string | undefined {
  switch (value.type) {
    case BsonType.int32:
    case BsonType.int64:
      return String(value.asBigInt())
    case BsonType.string:
      return JSON.stringify(value.asString())
    case BsonType.minKey:
      return '{"$minKey":1}'
    case BsonType.maxKey:
      return '{"$maxKey":1}'
    default:
      return undefined
  }
}

const largeLong = '\u0001int64:'
const markedLongs = /"\\u0001int64:(-?\d+)"/g

/** The numbers of JSON.stringify have 53 bits: longer ones become texts, for which only a document without any such text is taken. */
function markLargeLongs(value: object): boolean {
  let marked = false
  for (const [name, each] of Object.entries(value) as [string, unknown][]) {
    if (typeof each !== 'object' || each === null) continue
    if (each instanceof BSON.Long) {
      if (Number.isSafeInteger(each.toNumber())) continue
      Reflect.set(value, name, `${largeLong}${each.toString()}`)
      marked = true
    } else if (!('_bsontype' in each) && markLargeLongs(each)) marked = true
  }
  return marked
}

const noBytes = new Uint8Array(0)
export const nullValue = new RawValue(BsonType.null, noBytes, 0, 0)
export const undefinedValue = new RawValue(BsonType.undefined, noBytes, 0, 0)
export const minKeyValue = new RawValue(BsonType.minKey, noBytes, 0, 0)
export const maxKeyValue = new RawValue(BsonType.maxKey, noBytes, 0, 0)
export const emptyDocument: Uint8Array = new Uint8Array([5, 0, 0, 0, 0])
export const emptyDocumentValue = documentValue(emptyDocument)

/** An int32 as a raw value. */
export function int32Value(value: number): RawValue {
  const bytes = new Uint8Array([value, value >> 8, value >> 16, value >> 24])
  return new RawValue(BsonType.int32, bytes, 0, 4)
}

/** An int64 as a raw value. */
export function int64Value(value: bigint): RawValue {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt.asIntN(64, value))
  return new RawValue(BsonType.int64, bytes, 0, 8)
}

/** A double as a raw value. */
export function doubleValue(value: number): RawValue {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return new RawValue(BsonType.double, bytes, 0, 8)
}

/** A string as a raw value. */
export function stringValue(value: string): RawValue {
  const length = Buffer.byteLength(value)
  const bytes = Buffer.alloc(length + 5)
  bytes.writeInt32LE(length + 1)
  bytes.write(value, 4)
  return new RawValue(BsonType.string, bytes, 0, bytes.length)
}

/** Sixteen bytes as a UUID value. */
export function uuidValue(uuid: Uint8Array): RawValue {
  const bytes = new Uint8Array(21)
  bytes[0] = 16
  bytes[4] = 4
  // For so few bytes the call into the runtime costs more.
  for (let i = 0; i < 16; i++) bytes[5 + i] = uuid[i]!
  return new RawValue(BsonType.binary, bytes, 0, 21)
}

/** Twelve bytes as an ObjectId value. */
export function objectIdValue(id: Uint8Array): RawValue {
  return new RawValue(BsonType.objectId, id, 0, 12)
}

const trueBytes = new Uint8Array([1])
const falseBytes = new Uint8Array([0])

export function boolValue(value: boolean): RawValue {
  return new RawValue(BsonType.bool, value ? trueBytes : falseBytes, 0, 1)
}
