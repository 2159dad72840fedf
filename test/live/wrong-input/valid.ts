/** One valid command of each kind, for mutation. They take effect, so the cluster changes. */
import { Long, MaxKey, MinKey, type Document } from 'mongodb'

const min = { k: new MinKey() }
const max = { k: new MaxKey() }
const range = { min: { k: 30 }, max: { k: 40 } }

const onAdmin: readonly Document[] = [
  { enableSharding: 'app', primaryShard: 'shard01' },
  { shardCollection: 'app.empty', key: { k: 1 }, unique: false },
  {
    shardCollection: 'app.fresh',
    key: { h: 'hashed', l: 1 },
    numInitialChunks: 4,
    presplitHashedZones: false,
    collation: { locale: 'simple' },
  },
  { refineCollectionShardKey: 'app.compound', key: { a: 1, b: 1, c: 1 }, enforceUniquenessCheck: true },
  { addShard: 'set/127.0.0.1:1', name: 'set' },
  { movePrimary: 'app', to: 'shard01' },
  { split: 'app.c', middle: { k: 5 } },
  { split: 'app.c', find: { k: 5 } },
  { split: 'app.c', bounds: [{ k: 10 }, { k: 20 }] },
  { split: 'app.hashed', middle: { h: Long.fromNumber(12345) } },
  { mergeChunks: 'app.c', bounds: [min, { k: 10 }] },
  { moveChunk: 'app.c', find: { k: 20 }, to: 'shard01', forceJumbo: false, _waitForDelete: false },
  { moveChunk: 'app.c', bounds: [{ k: 20 }, max], to: 'shard01', _secondaryThrottle: true },
  { moveRange: 'app.c', min: { k: 20 }, max, toShard: 'shard01' },
  { mergeAllChunksOnShard: 'app.c', shard: 'shard01', maxNumberOfChunksToMerge: 2 },
  { clearJumboFlag: 'app.c', find: { k: 5 } },
  { clearJumboFlag: 'app.c', bounds: [{ k: 10 }, { k: 20 }] },
  { addShardToZone: 'shard01', zone: 'east' },
  { removeShardFromZone: 'shard01', zone: 'south' },
  { updateZoneKeyRange: 'app.c', ...range, zone: 'east' },
  { updateZoneKeyRange: 'app.c', ...range, zone: null },
  { updateZoneKeyRange: 'app.compound', min: { a: 1 }, max: { a: 2 }, zone: 'west' },
  { balancerStop: 1, maxTimeMS: 1000 },
  { balancerStatus: 1 },
  { balancerCollectionStatus: 'app.c' },
  { configureCollectionBalancing: 'app.c', chunkSize: 100, defragmentCollection: false, enableAutoMerger: true },
  { setAllowMigrations: 'app.c', allowMigrations: true },
  { getShardVersion: 'app.c', fullMetadata: true },
  { getShardMap: 1 },
  { listShards: 1 },
  { flushRouterConfig: 'app.c' },
  {
    analyzeShardKey: 'app.plain',
    key: { u: 1 },
    keyCharacteristics: true,
    readWriteDistribution: false,
    sampleSize: 10,
  },
  { configureQueryAnalyzer: 'app.c', mode: 'full', samplesPerSecond: 1 },
  { configureQueryAnalyzer: 'app.c', mode: 'off' },
  { setFeatureCompatibilityVersion: '7.0', confirm: true },
]

const onApp: readonly Document[] = [
  { checkMetadataConsistency: 1, checkIndexes: true, cursor: { batchSize: 10 } },
  { createIndexes: 'c', indexes: [{ key: { k: 1, l: 1 }, name: 'kl', unique: true }] },
  { dropIndexes: 'c', index: 'kl' },
  { collMod: 'c', index: { keyPattern: { k: 1 }, hidden: false } },
]

export const validCommands: readonly { readonly db: string; readonly command: Document }[] = [
  ...onAdmin.map((command) => ({ db: 'admin', command })),
  ...onApp.map((command) => ({ db: 'app', command })),
]
