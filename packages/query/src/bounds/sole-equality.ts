/**
 * Recognizes filters that consist of one equality by their bytes. Most commands by key have such a
 * filter and need no parsed predicate.
 */
import { BsonType, RawValue, valueEnd } from '@shardlab/bson'

export class SoleEquality {
  readonly path: string
  readonly value: RawValue

  constructor(path: string, value: RawValue) {
    this.path = path
    this.value = value
  }

  get(path: string): RawValue | undefined {
    return path === this.path ? this.value : undefined
  }
}

/**
 * Null: the filter is not a sole equality on this path, or only parsing can decide. A document may
 * contain operators; arrays, null, undefined and regular expressions match more values than
 * themselves.
 */
export function soleEquality(
  { bytes, start: documentStart, end: documentEnd }: RawValue,
  path: string,
): SoleEquality | null {
  const type = bytes[documentStart + 4]!
  if (!isPlain(type)) return null
  const { length } = path
  const nameStart = documentStart + 5
  for (let i = 0; i < length; i++) {
    const code = path.charCodeAt(i)
    // A character that is not ASCII is several bytes.
    if (code > 0x7f || bytes[nameStart + i] !== code) return null
  }
  const start = nameStart + length + 1
  if (bytes[start - 1] !== 0) return null
  const end = valueEnd(type, bytes, start)
  return end === documentEnd - 1 ? new SoleEquality(path, new RawValue(type, bytes, start, end)) : null
}

function isPlain(type: number): boolean {
  switch (type) {
    case BsonType.double:
    case BsonType.string:
    case BsonType.binary:
    case BsonType.objectId:
    case BsonType.bool:
    case BsonType.date:
    case BsonType.int32:
    case BsonType.timestamp:
    case BsonType.int64:
    case BsonType.decimal128:
      return true
    default:
      return false
  }
}
