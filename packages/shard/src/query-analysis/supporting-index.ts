/** Server: findCompatiblePrefixedIndex of analyze_shard_key_cmd_util.cpp. */
import type { Collection, Index } from '@shardlab/storage'
import type { ShardKeyPattern } from '@shardlab/sharding'

/**
 * The first fields must be those of the key, hashed or not, and the index must contain every
 * document once: not sparse, partial or multikey, and without a collation. Prefers fewer fields,
 * then unique indexes.
 */
export function supportingIndex(collection: Collection, shardKey: ShardKeyPattern): Index | null {
  let best: Index | null = null
  for (const index of collection.indexes()) {
    if (
      index.multikey ||
      index.sparse ||
      index.partialFilter !== null ||
      index.collation !== null ||
      index.wildcard !== null
    )
      continue
    if (!shardKey.paths.every((path, i) => index.pattern[i]?.path === path)) continue
    if (best === null || best.pattern.length > index.pattern.length || (!best.unique && index.unique)) best = index
  }
  return best
}

export function makesUnique(index: Index, shardKey: ShardKeyPattern): boolean {
  return index.unique && index.pattern.length === shardKey.fields.length
}
