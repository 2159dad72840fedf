/** Server: shard_key_index_util.cpp, findShardKeyPrefixedIndex. */
import { BsonType, FieldIterator } from '@shardlab/bson'
import type { Collection, Index } from '@shardlab/storage'

/**
 * The first index whose pattern begins with the key pattern, values included, and that is not
 * sparse or partial and has no collation. A multikey one is the last choice, but usable: shard key
 * fields contain no arrays.
 * @param keyPattern `{ path: 1 | 'hashed', … }`
 */
export function shardKeyPrefixedIndex(collection: Collection, keyPattern: Uint8Array): Index | undefined {
  let multikey: Index | undefined
  for (const index of collection.indexes()) {
    if (index.sparse || index.partialFilter !== null || index.collation !== null || !startsWith(index, keyPattern))
      continue
    if (!index.multikey) return index
    multikey ??= index
  }
  return multikey
}

function startsWith({ pattern }: Index, keyPattern: Uint8Array): boolean {
  const it = new FieldIterator(keyPattern)
  for (let i = 0; it.next(); i++) {
    const field = pattern[i]
    if (field === undefined || field.path !== it.name()) return false
    const value = it.value()
    if (field.direction !== (value.type === BsonType.string ? value.asName() : value.asNumber())) return false
  }
  return true
}
