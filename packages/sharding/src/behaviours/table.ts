/**
 * What differs between server versions, as data (law 6): one row for each behaviour, its values by the version from
 * which they hold, and where that is known from. Nothing else in the house compares versions.
 */
import { emulatedVersions, type EmulatedVersion } from './versions.js'

export interface BehaviourRow<T> {
  readonly name: string
  /** What is decided, one sentence. */
  readonly about: string
  /** `[from, value]`, ascending; a value holds until the next one's version. The first one starts at 2.6. */
  readonly values: readonly (readonly [from: EmulatedVersion, value: T])[]
  /** Manual page or server source. */
  readonly source: string
}

const row = <T>(about: string, source: string, ...values: readonly (readonly [EmulatedVersion, T])[]) => ({ about, source, values })

/** All rows by name. */
export const behaviourTable = {
  serverVersion: row<string>(
    'Version that buildInfo and serverStatus report: the last patch release of the series.',
    'release notes of each series',
    ['2.6', '2.6.12'],
    ['4.0', '4.0.28'],
    ['4.4', '4.4.29'],
    ['5.0', '5.0.31'],
    ['6.0.2', '6.0.2'],
    ['6.0', '6.0.25'],
    ['7.0', '7.0.25'],
    ['8.0', '8.0.13'],
  ),
  nativeWireVersion: row<number>(
    'Highest wire version that hello announces.',
    'driver specification, wire version feature list',
    ['2.6', 2],
    ['4.0', 7],
    ['4.4', 9],
    ['5.0', 13],
    ['6.0.2', 17],
    ['7.0', 21],
    ['8.0', 25],
  ),
  featureCompatibilityVersion: row<string>(
    'featureCompatibilityVersion parameter.',
    'reference/command/setFeatureCompatibilityVersion',
    ['2.6', '2.6'],
    ['4.0', '4.0'],
    ['4.4', '4.4'],
    ['5.0', '5.0'],
    ['6.0.2', '6.0'],
    ['7.0', '7.0'],
    ['8.0', '8.0'],
  ),
  commandsByOpQuery: row<boolean>(
    'Any command may come as OP_QUERY; otherwise only those of the handshake may.',
    'legacy opcode removal, 5.1; checkAllowedOpQueryCommand',
    ['2.6', true],
    ['6.0.2', false],
  ),
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
  defaultChunkSizeBytes: row<number>(
    'Chunk size while config.settings has none.',
    'core/sharding-data-partitioning',
    ['2.6', 64 * 1024 * 1024],
    ['6.0.2', 128 * 1024 * 1024],
  ),
  chunksAreKeyedByUuid: row<boolean>(
    'config.chunks documents name their collection by uuid instead of ns, and collections carry a timestamp.',
    'reference/config-database; type_chunk.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  chunksHaveOnCurrentShardSince: row<boolean>(
    'config.chunks documents have onCurrentShardSince.',
    'type_chunk.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
  configVersionHasCompatibilityRange: row<boolean>(
    'config.version holds minCompatibleVersion and currentVersion.',
    'reference/config-database',
    ['2.6', true],
    ['7.0', false],
  ),
  databasesHavePartitioned: row<boolean>(
    'config.databases documents have the partitioned field.',
    'reference/config-database',
    ['2.6', true],
    ['6.0.2', false],
  ),
  droppedCollectionsLeaveEntries: row<boolean>(
    'A dropped sharded collection stays in config.collections with dropped: true.',
    'type_collection.cpp',
    ['2.6', true],
    ['5.0', false],
  ),
  updateOneWithoutShardKey: row<'exact-id-or-61' | 'one-shard-or-72' | 'any'>(
    'What a single-document update or delete whose filter lacks the full shard key does.',
    'reference/method/db.collection.updateOne, sharded collections',
    ['2.6', 'exact-id-or-61'],
    ['4.4', 'one-shard-or-72'],
    ['7.0', 'any'],
  ),
  shardKeyValuesAreImmutable: row<boolean>(
    "A document's shard key value cannot change.",
    'core/sharding-change-shard-key-value',
    ['2.6', true],
    ['4.4', false],
  ),
  initialChunksOnShuffledShards: row<boolean>(
    'Initial chunks go round-robin over a shuffled list of shards instead of the sorted one.',
    'initial_split_policy.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
  partialFilterOrAndIn: row<boolean>(
    'partialFilterExpression may hold $or and $in.',
    'core/index-partial; index_catalog_impl.cpp',
    ['2.6', false],
    ['6.0.2', true],
  ),
  droppingMissingCollectionFails: row<boolean>(
    'drop of a collection that does not exist fails with NamespaceNotFound.',
    'SERVER-43894',
    ['2.6', true],
    ['7.0', false],
  ),
  shardKeyIndexIsProtected: row<boolean>(
    'The last index that serves a shard key can neither be dropped nor hidden, unless the key is hashed.',
    'reference/command/dropIndexes; drop_indexes.cpp',
    ['2.6', false],
    ['6.0.2', true],
  ),
  prepareUniqueIndexes: row<boolean>(
    'collMod prepares an index for uniqueness and makes it unique, and gives one without it a time to live.',
    'reference/command/collMod',
    ['2.6', false],
    ['6.0.2', true],
  ),
  shardedCollectionsCanBeRenamed: row<boolean>(
    'renameCollection works on sharded collections.',
    'reference/command/renameCollection',
    ['2.6', false],
    ['5.0', true],
  ),
  collModOfUnshardedIsPlain: row<boolean>(
    'collMod on an unsharded collection answers through a router as its shard does, not with raw.',
    'collmod_coordinator.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  createNotesAutoIndexId: row<boolean>(
    'create answers with a note that autoIndexId is deprecated.',
    'create_command.cpp',
    ['2.6', false],
    ['4.0', true],
    ['8.0', false],
  ),
  namespaceBytesMax: row<number>(
    'Longest namespace, database name and dot included.',
    'reference/limits, Namespace Length',
    ['2.6', 120],
    ['4.4', 255],
  ),
  changeStreamPreAndPostImages: row<boolean>(
    'Collections have the option changeStreamPreAndPostImages, and no longer recordPreImages.',
    'release notes 6.0; reference/command/create',
    ['2.6', false],
    ['6.0.2', true],
  ),
  validationErrorsHaveDetails: row<boolean>(
    'A document that fails its validator is refused with errInfo that says why.',
    'release notes 5.0, schema validation',
    ['2.6', false],
    ['5.0', true],
  ),
  queryLanguage: row<number>(
    'The release whose operators, accumulators and stages are understood; later ones are unknown.',
    'release notes of each series, operator pages of the manual',
    ['2.6', 2.6],
    ['4.0', 4],
    ['4.4', 4.4],
    ['5.0', 5],
    ['6.0.2', 6],
    ['7.0', 7],
    ['8.0', 8],
  ),
  undefinedMatchesNull: row<boolean>(
    'The old BSON type undefined equals null in query predicates.',
    'release-notes/8.0-compatibility, queries for null',
    ['2.6', true],
    ['8.0', false],
  ),
  snapshotReads: row<boolean>(
    'Reads outside of transactions may have read concern snapshot.',
    'reference/read-concern-snapshot',
    ['2.6', false],
    ['5.0', true],
  ),
  dollarFieldsCanBeStored: row<boolean>(
    'Field names that start with a dollar sign can be stored.',
    'release notes 5.0, field names; fixDocumentForInsert, storage_validation.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  bulkWriteCommand: row<boolean>('There is a bulkWrite command.', 'reference/command/bulkWrite', ['2.6', false], ['8.0', true]),
  updateSort: row<boolean>('An update of one document may name a sort.', 'reference/command/update, sort', ['2.6', false], ['8.0', true]),
  writeStatementHints: row<boolean>(
    'Statements of update and delete may name an index.',
    'reference/command/update and delete, hint',
    ['2.6', false],
    ['4.4', true],
  ),
  letInCommands: row<boolean>('Write commands take variables as let.', 'reference/command/update, let', ['2.6', false], ['5.0', true]),
  cappedDocumentsCanBeDeleted: row<boolean>(
    'Documents of capped collections can be deleted.',
    'core/capped-collections; delete.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  cappedDocumentsCanChangeSize: row<boolean>(
    'Updates of documents of capped collections may change their size.',
    'collection_impl.cpp, updateDocument',
    ['2.6', false],
    ['6.0.2', true],
  ),
  explainFormat: row<'4.4' | '5.0' | '7.0' | '8.0'>(
    'Which fields explain has and in which order.',
    'reference/explain-results of each series',
    ['2.6', '4.4'],
    ['5.0', '5.0'],
    ['7.0', '7.0'],
    ['8.0', '8.0'],
  ),
  sortsUseDiskByDefault: row<boolean>(
    'A find whose sort outgrows its memory goes on unless it says allowDiskUse: false.',
    'reference/parameters, allowDiskUseByDefault',
    ['2.6', false],
    ['6.0.2', true],
  ),
  executorErrorsNameCollection: row<boolean>(
    'Errors that come up while a find runs name its collection.',
    'find_cmd.cpp, addContext',
    ['2.6', false],
    ['8.0', true],
  ),
  distinctTakesHint: row<boolean>(
    'distinct has the hint argument.',
    'reference/command/distinct, new in 7.1',
    ['2.6', false],
    ['8.0', true],
  ),
  searchIndexCommands: row<boolean>(
    'The commands for search indexes exist, if only to say that there is no search.',
    'reference/command/createSearchIndexes, new in 7.0 and 6.0.7',
    ['2.6', false],
    ['6.0', true],
  ),
  implicitDefaultConcerns: row<boolean>(
    'getDefaultRWConcern names the read and write concern that hold where nobody set any.',
    'reference/command/getDefaultRWConcern, new in 5.0',
    ['2.6', false],
    ['5.0', true],
  ),
  metadataConsistencyCheck: row<boolean>(
    'There is checkMetadataConsistency.',
    'reference/command/checkMetadataConsistency, new in 7.0',
    ['2.6', false],
    ['7.0', true],
  ),
  nonces: row<boolean>('There is getnonce.', 'authentication_commands.cpp; gone since 6.2', ['2.6', true], ['7.0', false]),
} satisfies Record<string, Omit<BehaviourRow<unknown>, 'name'>>

type ValueOf<R> = R extends { readonly values: readonly (readonly [EmulatedVersion, infer T])[] } ? T : never

/** One column of the table: every behaviour by its name. */
export type Behaviours = { readonly [K in keyof typeof behaviourTable]: ValueOf<(typeof behaviourTable)[K]> } & {
  /** The profile that the column belongs to, for people; code asks for behaviours. */
  readonly profile: EmulatedVersion
}

/** The column of one version. */
export function behavioursOf(version: EmulatedVersion): Behaviours {
  const position = emulatedVersions.indexOf(version)
  const column: Record<string, unknown> = { profile: version }
  for (const [name, { values }] of Object.entries(behaviourTable)) {
    const holding = values.filter(([from]) => emulatedVersions.indexOf(from) <= position)
    column[name] = holding.at(-1)![1]
  }
  return column as Behaviours
}
