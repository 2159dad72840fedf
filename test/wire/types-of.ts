/** The BSON types of all fields in a document, read from its bytes. */
import { BsonType, FieldIterator, readInt32, typeName } from '@shardlab/bson'

/**
 * The types of each field by its path: `cursor.id` is `long`; elements of arrays are under `[]`
 * (`cursor.firstBatch[].a`), with all the types that occur. Documents and arrays have entries of
 * their own.
 */
export function typesOf(document: Uint8Array): Map<string, Set<string>> {
  const types = new Map<string, Set<string>>()
  collect(document, 0, '', false, types)
  return types
}

function collect(
  bytes: Uint8Array,
  start: number,
  prefix: string,
  isArray: boolean,
  types: Map<string, Set<string>>,
): void {
  if (start + readInt32(bytes, start) > bytes.length)
    throw new Error(`the document at ${prefix} is longer than the message`)
  for (const it = new FieldIterator(bytes, start); it.next();) {
    const path = isArray ? `${prefix}[]` : prefix === '' ? it.name() : `${prefix}.${it.name()}`
    let known = types.get(path)
    if (known === undefined) types.set(path, (known = new Set()))
    known.add(typeName(it.type))
    if (it.type === BsonType.object || it.type === BsonType.array)
      collect(bytes, it.valueStart, path, it.type === BsonType.array, types)
  }
}
