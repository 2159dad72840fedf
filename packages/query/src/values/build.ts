import { BsonType, DocumentWriter, RawValue, writeInt32, writeInt64 } from '@shardlab/bson'
import { checkValueBytes } from './limits.js'

export function dateValue(ms: number | bigint): RawValue {
  const bytes = new Uint8Array(8)
  writeInt64(bytes, 0, BigInt(ms))
  return new RawValue(BsonType.date, bytes, 0, 8)
}

export function timestampValue(seconds: number, increment: number): RawValue {
  const bytes = new Uint8Array(8)
  writeInt32(bytes, 0, increment)
  writeInt32(bytes, 4, seconds)
  return new RawValue(BsonType.timestamp, bytes, 0, 8)
}

export function arrayValue(elements: Iterable<RawValue>): RawValue {
  const writer = new DocumentWriter()
  let index = 0
  for (const element of elements) {
    writer.value(String(index++), element)
    checkValueBytes('An array', writer.length)
  }
  const bytes = writer.finish()
  return new RawValue(BsonType.array, bytes, 0, bytes.length)
}

export function identical(a: RawValue, b: RawValue): boolean {
  const length = a.end - a.start
  if (a.type !== b.type || b.end - b.start !== length) return false
  for (let i = 0; i < length; i++) if (a.bytes[a.start + i] !== b.bytes[b.start + i]) return false
  return true
}
