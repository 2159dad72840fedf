/** Server: computeInlineDiff of document_diff_calculator.cpp. */
import { BsonType, DocumentWriter, FieldIterator, findField, isEmptyDocument } from '@shardlab/bson'

/**
 * @returns `{ field: 'i' | 'u' | 'd' }` for each inserted, updated or deleted field; a nested
 *   document instead of the letter where both values are documents; null: no differences
 */
export function inlineDiff(before: Uint8Array, after: Uint8Array): Uint8Array | null {
  const writer = new DocumentWriter(128)
  writeDiff(writer, before, 0, after, 0)
  const diff = writer.finish()
  return isEmptyDocument(diff) ? null : diff
}

function writeDiff(
  writer: DocumentWriter,
  before: Uint8Array,
  beforeStart: number,
  after: Uint8Array,
  afterStart: number,
): void {
  for (const it = new FieldIterator(after, afterStart); it.next();) {
    const name = it.name()
    const old = findField(before, name, beforeStart)
    const value = it.value()
    if (old === undefined) writer.string(name, 'i')
    else if (!old.isIdentical(value)) {
      if (old.type === BsonType.object && value.type === BsonType.object) {
        writeDiff(writer.startDocument(name), old.bytes, old.start, value.bytes, value.start)
        writer.end()
      } else writer.string(name, 'u')
    }
  }
  for (const it = new FieldIterator(before, beforeStart); it.next();) {
    if (findField(after, it.name(), afterStart) === undefined) writer.string(it.name(), 'd')
  }
}
