import { BsonType, fieldsOf, findField, hashedKeyValue, nullValue, type RawValue } from '@shardlab/bson'
import { formatDocument, formatValue } from '@shardlab/query'
import { extractField, isHashedElement } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'

/**
 * The first document without a field of the key; null: none.
 * Server: check_sharding_index_command.cpp until 4.2.
 */
export function documentLackingField(collection: Collection, keyPattern: Uint8Array): string | null {
  const fields = fieldsOf(keyPattern).map(([path, value]) => ({
    parts: path.split('.'),
    hashed: isHashedElement(value),
  }))
  const scan = collection.scan()
  for (let record = scan.next(); record !== null; record = scan.next()) {
    const { document } = record
    const values = fields.map(({ parts }) => extractField(document, parts))
    if (!values.includes(undefined)) continue
    const key = values.map((value, i) => ` : ${formatValue(inIndex(value, fields[i]!.hashed))}`)
    // The server intends to show the `_id`, and has the condition inverted.
    const shown = findField(document, '_id') === undefined ? 'EOO' : formatDocument(document)
    return `found missing value in key {${key.join(',')} } for doc: ${shown}`
  }
  return null
}

function inIndex(value: RawValue | undefined | 'array', hashed: boolean): RawValue {
  const known = value === undefined || value === 'array' || value.type === BsonType.undefined ? nullValue : value
  return hashed ? hashedKeyValue(known) : known
}
