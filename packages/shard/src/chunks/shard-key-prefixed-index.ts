/** The index by which a shard reads its documents in the order of the shard key. Server: shard_key_index_util.cpp, findShardKeyPrefixedIndex. */
import { BsonType, fieldsOf, type RawValue } from '@shardlab/bson'
import type { Collection, Index } from '@shardlab/storage'

/**
 * The first index whose pattern begins with the key pattern, values included, that is neither sparse nor partial and has no collation.
 * One that is not multikey goes before others; a multikey one does, as shard key fields hold no arrays.
 * @param keyPattern `{ path: 1 | 'hashed', … }`
 */
export function shardKeyPrefixedIndex(collection: Collection, keyPattern: Uint8Array): Index | undefined {
  const wanted = fieldsOf(keyPattern)
  const fitting = collection
    .indexes()
    .filter((index) => !index.sparse && index.partialFilter === null && index.collation === null && startsWith(index, wanted))
  return fitting.find((index) => !index.multikey) ?? fitting[0]
}

function startsWith({ pattern }: Index, wanted: readonly [path: string, value: RawValue][]): boolean {
  return wanted.every(([path, value], i) => {
    const field = pattern[i]
    if (field === undefined || field.path !== path) return false
    return value.type === BsonType.string ? field.direction === value.asString() : value.isNumber() && field.direction === value.asNumber()
  })
}
