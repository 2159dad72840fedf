/** Whether a collection's indexes allow a shard key, and which index is to be made. Server: shard_key_util.cpp. */
import { CommandError, DocumentWriter, findField, isEmptyDocument, toExtendedJson } from '@shardlab/bson'
import type { Collection, Index } from '@shardlab/storage'
import type { ShardKeyPattern } from '@shardlab/sharding'

/** Does the key's pattern, values included, begin the index's pattern? */
function startsWithShardKey(index: Index, shardKey: ShardKeyPattern): boolean {
  return shardKey.fields.every((field, i) => {
    const indexed = index.pattern[i]
    return indexed !== undefined && indexed.path === field.path && indexed.direction === (field.hashed ? 'hashed' : 1)
  })
}

/** Can routing and migrations rely on this index? */
function isUseful(index: Index, shardKey: ShardKeyPattern): boolean {
  return (
    !index.sparse && index.partialFilter === null && findField(index.spec, 'collation') === undefined && startsWithShardKey(index, shardKey)
  )
}

/** Names of the visible indexes that the collection must not lose all of; a hashed one it may. Server: isLastNonHiddenRangedShardKeyIndex. */
export function protectedIndexes(collection: Collection, shardKey: ShardKeyPattern): string[] {
  if (shardKey.isHashed) return []
  return collection
    .indexes()
    .filter((index) => !index.hidden && !index.multikey && isUseful(index, shardKey))
    .map((index) => index.name)
}

/**
 * Validates the indexes of a collection for a shard key.
 * @returns the specification of the index that must be made, or null when one is there
 * @throws CommandError 72 InvalidOptions
 */
export function requiredIndex(
  collection: Collection | undefined,
  ns: string,
  shardKey: ShardKeyPattern,
  unique: boolean,
): Uint8Array | null {
  for (const index of collection?.indexes() ?? []) {
    const pattern = findField(index.spec, 'key')!.slice()
    if (index.unique && index.name !== '_id_' && !shardKey.allowsUniqueIndex(pattern)) {
      throw new CommandError(
        'InvalidOptions',
        `can't shard collection '${ns}' with unique index on ${toExtendedJson(pattern)} and proposed shard key ${toExtendedJson(shardKey.document)}. Uniqueness can't be maintained unless shard key is a prefix`,
      )
    }
  }
  const useful = (collection?.indexes() ?? []).filter((index) => isUseful(index, shardKey))
  const multikey = useful.find((index) => index.multikey)
  if (multikey !== undefined && useful.every((index) => index.multikey)) {
    throw new CommandError('InvalidOptions', `couldn't find valid index for shard key: index ${multikey.name} is multikey`)
  }
  if (unique && !shardKey.isId) {
    const exact = useful.find((index) => index.pattern.length === shardKey.fields.length)
    if (exact !== undefined && !exact.unique) {
      throw new CommandError(
        'InvalidOptions',
        `can't shard collection ${ns}, index not unique: ${toExtendedJson(findField(exact.spec, 'key')!.slice())}`,
      )
    }
    if (exact !== undefined) return null
  } else if (useful.length > 0) return null
  if (collection !== undefined && collection.count > 0) {
    throw new CommandError(
      'InvalidOptions',
      'Please create an index that starts with the proposed shard key before sharding the collection',
    )
  }
  if (collection === undefined && shardKey.isId) return null
  const spec = new DocumentWriter(128).int32('v', 2).document('key', shardKey.document).string('name', shardKey.indexName)
  if (unique) spec.bool('unique', true)
  return spec.finish()
}

/** Is a collation argument given that is not the simple one? */
export function isForeignCollation(collation: Uint8Array | undefined): boolean {
  return collation !== undefined && !isEmptyDocument(collation) && findField(collation, 'locale')?.asString() !== 'simple'
}
