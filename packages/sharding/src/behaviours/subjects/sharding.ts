/** Shard keys, routing, and sharding a collection. */
import { row } from '../row.js'

export const shardingBehaviours = {
  missingShardKeyFieldsAreNull: row<boolean>(
    'A document may lack shard key fields: a missing one counts as null.',
    'core/sharding-shard-key, missing shard key fields',
    ['2.6', false],
    ['4.4', true],
  ),
  compoundHashedShardKeys: row<boolean>(
    'A shard key may have other fields beside its hashed one.',
    'core/hashed-sharding',
    ['2.6', false],
    ['4.4', true],
  ),
  shardKeySizeLimitBytes: row<number | null>(
    'Largest shard key of a document, null for no limit.',
    'reference/limits, Shard Key Size',
    ['2.6', 512],
    ['4.4', null],
  ),
  databasesNeedEnableSharding: row<boolean>(
    'shardCollection requires enableSharding of the database before.',
    'reference/command/enableSharding',
    ['2.6', true],
    ['6.0.2', false],
  ),
  initialHashedChunksPerShard: row<number>(
    'Chunks per shard that sharding an empty collection on a hashed key makes by itself.',
    'SERVER-76405',
    ['2.6', 2],
    ['8.0', 1],
  ),
  numInitialChunksIsIgnored: row<boolean>(
    'shardCollection accepts numInitialChunks and does nothing with it.',
    'SERVER-74747',
    ['2.6', false],
    ['8.0', true],
  ),
  shardCollectionReplyHasUuid: row<boolean>(
    'The reply of shardCollection holds collectionUUID.',
    'reference/command/shardCollection',
    ['2.6', false],
    ['4.0', true],
    ['6.0.2', false],
  ),
  initialChunksOnShuffledShards: row<boolean>(
    'Initial chunks go round-robin over a shuffled list of shards instead of the sorted one.',
    'initial_split_policy.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
  defaultChunkSizeBytes: row<number>(
    'Chunk size while config.settings has none.',
    'core/sharding-data-partitioning',
    ['2.6', 64 * 1024 * 1024],
    ['6.0.2', 128 * 1024 * 1024],
  ),
  shardKeyValuesAreImmutable: row<boolean>(
    "A document's shard key value cannot change.",
    'core/sharding-change-shard-key-value',
    ['2.6', true],
    ['4.4', false],
  ),
  updateOneWithoutShardKey: row<'exact-id-or-61' | 'one-shard-or-72' | 'any'>(
    'What a single-document update or delete whose filter lacks the full shard key does.',
    'reference/method/db.collection.updateOne, sharded collections',
    ['2.6', 'exact-id-or-61'],
    ['4.4', 'one-shard-or-72'],
    ['7.0', 'any'],
  ),
  shardKeyIndexIsProtected: row<boolean>(
    'The last index that serves a shard key can neither be dropped nor hidden, unless the key is hashed.',
    'reference/command/dropIndexes; drop_indexes.cpp',
    ['2.6', false],
    ['6.0.2', true],
  ),
  shardedCollectionsCanBeRenamed: row<boolean>(
    'renameCollection works on sharded collections.',
    'reference/command/renameCollection',
    ['2.6', false],
    ['5.0', true],
  ),
  shardingStateTellsTimestamps: row<boolean>(
    'shardingState tells the timestamp of each collection beside its placement version.',
    'CollectionShardingRuntime::appendShardVersion',
    ['2.6', false],
    ['7.0', true],
  ),
}
