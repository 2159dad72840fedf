/** The index that the characteristics of a shard key are read from. Server: findCompatiblePrefixedIndex of analyze_shard_key_cmd_util.cpp. */
import type { Collection, Index } from '@shardlab/storage'
import type { ShardKeyPattern } from '@shardlab/sharding'

/**
 * An index whose field names begin with those of the key, whether they are hashed or not, that holds every document once: not sparse, not
 * partial, not multikey, without a collation. Fewer fields and uniqueness are better.
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

/** Is the index on exactly these fields, and unique? */
export function makesUnique(index: Index, shardKey: ShardKeyPattern): boolean {
  return index.unique && index.pattern.length === shardKey.fields.length
}
