/** For grouping, sets and `distinct` under a collation. */
import {
  BsonType,
  DocumentWriter,
  encodeKeyString,
  FieldIterator,
  RawValue,
  stringValue,
  type StringComparator,
} from '@shardlab/bson'

/**
 * Maps equal values to equal strings. Without a collation the string is the KeyString, and strings
 * have the order of their values. With a collation the first member represents each class of equal
 * strings, and the order of the keys means nothing.
 */
export function valueClasses(strings: StringComparator | undefined): (value: RawValue) => string {
  if (strings === undefined) return (value) => encodeKeyString([value])
  const representativeOf = stringClasses(strings)
  return (value) => encodeKeyString([representative(value, representativeOf)])
}

function stringClasses(compare: StringComparator): (text: string) => string {
  const known = new Map<string, string>()
  const sorted: string[] = []
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >> 1
      const order = compare(sorted[middle]!, text)
      if (order === 0) {
        known.set(text, sorted[middle]!)
        return sorted[middle]!
      }
      if (order < 0) low = middle + 1
      else high = middle
    }
    sorted.splice(low, 0, text)
    known.set(text, text)
    return text
  }
}

function representative(value: RawValue, representativeOf: (text: string) => string): RawValue {
  switch (value.type) {
    case BsonType.string:
    case BsonType.symbol:
      return stringValue(representativeOf(value.asString()))
    case BsonType.object:
    case BsonType.array: {
      const writer = new DocumentWriter(value.end - value.start + 16)
      for (const it = new FieldIterator(value.bytes, value.start); it.next();)
        writer.value(it.name(), representative(it.value(), representativeOf))
      const bytes = writer.finish()
      return new RawValue(value.type, bytes, 0, bytes.length)
    }
    default:
      return value
  }
}
