/**
 * For tools above the roles and for tests. An object reorders numeric names and has one type of
 * number, so roles keep documents as bytes.
 */
import { BSON, type Document } from 'bson'
import { findField } from '../scan/scan.js'
import { undefinedValue } from '../values/scalars.js'
import type { RawValue } from '../values/raw-value.js'

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

/**
 * For a document longer than its buffer, `bson` returns the part that fitted, then arbitrary bytes,
 * or throws.
 */
const bsonBufferBytes = 17 * 1024 * 1024

/** `undefined` properties are left out. */
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
 * int32 and double become numbers, int64 becomes `Long` or, with `promoteLongs`, a number; other
 * types become `bson` classes. Invalid UTF-8 becomes U+FFFD: a server accepts such strings.
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

/** The result has its own bytes. */
export function toRawValue(value: unknown): RawValue {
  if (value === undefined) return undefinedValue
  const bytes = BSON.serialize({ v: value })
  return findField(bytes, 'v')!
}

/** By the rules of {@link decode}. */
export function fromRawValue(value: RawValue, options: { promoteLongs?: boolean } = {}): unknown {
  const wrapped = Buffer.alloc(value.end - value.start + 8)
  wrapped.writeInt32LE(wrapped.length, 0)
  wrapped[4] = value.type
  wrapped[5] = 0x76
  wrapped.set(value.slice(), 7)
  return decode(wrapped, options).v
}
