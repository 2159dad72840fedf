/** Replies of the commands on chunks and shard keys. */
import { MaxKey, MinKey, type Document } from '@shardlab/bson'
import { admin, type ReplyRow } from './reply-row.js'

const ns = 'types.chunks'
const onAdmin = (command: Document, types: ReplyRow['types'] = {}): ReplyRow => ({ command, db: admin, types })
const configuration = { newConfiguration: 'object', 'newConfiguration.mode': 'string' } as const

export const chunkReplies: readonly ReplyRow[] = [
  onAdmin({ shardCollection: ns, key: { a: 1 } }, { collectionsharded: 'string' }),
  {
    command: { insert: 'chunks', documents: Array.from({ length: 1_000 }, (_, a) => ({ a, b: a })) },
    types: { n: 'int' },
  },
  onAdmin({ split: ns, middle: { a: 500 } }),
  onAdmin({ moveChunk: ns, find: { a: 700 }, to: 'shard01', _waitForDelete: true }, { millis: 'int' }),
  onAdmin({ moveRange: ns, min: { a: 500 }, toShard: 'shard01' }),
  onAdmin({ clearJumboFlag: ns, find: { a: 1 } }),
  onAdmin({ mergeAllChunksOnShard: ns, shard: 'shard01' }),
  onAdmin({ moveChunk: ns, find: { a: 1 }, to: 'shard01', _waitForDelete: true }, { millis: 'int' }),
  onAdmin({ mergeChunks: ns, bounds: [{ a: new MinKey() }, { a: new MaxKey() }] }),
  { command: { insert: 'halved', documents: [{ _id: 1 }, { _id: 2 }] }, types: { n: 'int' } },
  {
    command: { splitVector: 'types.halved', keyPattern: { _id: 1 }, force: true },
    types: { splitKeys: 'array', 'splitKeys[]?': 'object' },
  },
  onAdmin(
    { configureQueryAnalyzer: ns, mode: 'full', samplesPerSecond: 1 },
    { ...configuration, 'newConfiguration.samplesPerSecond': 'double' },
  ),
  onAdmin({ configureQueryAnalyzer: ns, mode: 'off' }, { ...configuration, oldConfiguration: 'object' }),
  onAdmin(
    { analyzeShardKey: ns, key: { a: 1 } },
    {
      keyCharacteristics: 'object',
      'keyCharacteristics.numDocsTotal': 'long',
      'keyCharacteristics.numDocsSampled': 'long',
      'keyCharacteristics.avgDocSizeBytes': 'long',
      'keyCharacteristics.isUnique': 'bool',
      'keyCharacteristics.numDistinctValues': 'long',
      'keyCharacteristics.mostCommonValues': 'array',
      'keyCharacteristics.mostCommonValues[].value': 'object',
      'keyCharacteristics.mostCommonValues[].frequency': 'long',
      'keyCharacteristics.monotonicity.recordIdCorrelationCoefficient?': 'double',
      'keyCharacteristics.monotonicity.type': 'string',
      readDistribution: 'object',
      'readDistribution.sampleSize.total': 'long',
      writeDistribution: 'object',
      'writeDistribution.sampleSize.total': 'long',
    },
  ),
  {
    command: { createIndexes: 'chunks', indexes: [{ key: { a: 1, b: 1 }, name: 'a_1_b_1' }] },
    types: { raw: 'object' },
  },
  onAdmin({ refineCollectionShardKey: ns, key: { a: 1, b: 1 } }),
  onAdmin({ reshardCollection: ns, key: { b: 1 }, numInitialChunks: 2 }),
  // No resharding is active.
  ...['abortReshardCollection', 'commitReshardCollection'].map((name) =>
    onAdmin({ [name]: ns }, { errmsg: 'string', code: 'int', codeName: 'string' }),
  ),
  onAdmin({ cleanupReshardCollection: ns }),
  onAdmin({ moveCollection: 'types.halved', toShard: 'shard02' }),
  onAdmin({ unshardCollection: ns, toShard: 'shard02' }),
  ...['abortMoveCollection', 'abortUnshardCollection'].map((name) =>
    onAdmin({ [name]: ns }, { errmsg: 'string', code: 'int', codeName: 'string' }),
  ),
  onAdmin(
    { setDefaultRWConcern: 1, defaultWriteConcern: { w: 1 } },
    {
      'defaultReadConcern?': 'object',
      defaultWriteConcern: 'object',
      updateOpTime: 'timestamp',
      updateWallClockTime: 'date',
      defaultWriteConcernSource: 'string',
      defaultReadConcernSource: 'string',
      localUpdateWallClockTime: 'date',
    },
  ),
]
