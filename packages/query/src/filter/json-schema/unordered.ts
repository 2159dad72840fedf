/** Equality in schemas ignores the order of fields and the collation. */
import { BsonType, DocumentWriter, encodeKeyString, FieldIterator, RawValue } from '@shardlab/bson'

export function unorderedKey(value: RawValue): string {
  return encodeKeyString([withSortedFields(value)])
}

function withSortedFields(value: RawValue): RawValue {
  if (value.type !== BsonType.object && value.type !== BsonType.array) return value
  const fields: [string, RawValue][] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();)
    fields.push([it.name(), withSortedFields(it.value())])
  if (value.type === BsonType.object) fields.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const writer = new DocumentWriter(value.end - value.start)
  for (const [name, field] of fields) writer.value(name, field)
  const bytes = writer.finish()
  return new RawValue(value.type, bytes, 0, bytes.length)
}
