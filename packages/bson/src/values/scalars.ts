import { RawValue } from './raw-value.js'
import { BsonType } from './types.js'

const noBytes = new Uint8Array(0)
export const nullValue = new RawValue(BsonType.null, noBytes, 0, 0)
export const undefinedValue = new RawValue(BsonType.undefined, noBytes, 0, 0)
export const minKeyValue = new RawValue(BsonType.minKey, noBytes, 0, 0)
export const maxKeyValue = new RawValue(BsonType.maxKey, noBytes, 0, 0)
export const emptyDocument: Uint8Array = new Uint8Array([5, 0, 0, 0, 0])
export const emptyDocumentValue = documentValue(emptyDocument)

export function documentValue(bytes: Uint8Array): RawValue {
  return new RawValue(BsonType.object, bytes, 0, bytes.length)
}

export function int32Value(value: number): RawValue {
  const bytes = new Uint8Array([value, value >> 8, value >> 16, value >> 24])
  return new RawValue(BsonType.int32, bytes, 0, 4)
}

export function int64Value(value: bigint): RawValue {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt.asIntN(64, value))
  return new RawValue(BsonType.int64, bytes, 0, 8)
}

export function doubleValue(value: number): RawValue {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return new RawValue(BsonType.double, bytes, 0, 8)
}

export function stringValue(value: string): RawValue {
  const length = Buffer.byteLength(value)
  const bytes = Buffer.alloc(length + 5)
  bytes.writeInt32LE(length + 1)
  bytes.write(value, 4)
  return new RawValue(BsonType.string, bytes, 0, bytes.length)
}

export function uuidValue(uuid: Uint8Array): RawValue {
  const bytes = new Uint8Array(21)
  bytes[0] = 16
  bytes[4] = 4
  // For 16 bytes a loop is faster than a call into the runtime.
  for (let i = 0; i < 16; i++) bytes[5 + i] = uuid[i]!
  return new RawValue(BsonType.binary, bytes, 0, 21)
}

/** Shares the bytes. */
export function objectIdValue(id: Uint8Array): RawValue {
  return new RawValue(BsonType.objectId, id, 0, 12)
}

export function timestampValue(seconds: number, increment: number): RawValue {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32LE(increment)
  bytes.writeUInt32LE(seconds, 4)
  return new RawValue(BsonType.timestamp, bytes, 0, 8)
}

const trueBytes = new Uint8Array([1])
const falseBytes = new Uint8Array([0])

export function boolValue(value: boolean): RawValue {
  return new RawValue(BsonType.bool, value ? trueBytes : falseBytes, 0, 1)
}
