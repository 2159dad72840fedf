/** Replies of the commands on shards, zones and the balancer's settings. */
import { admin, type ReplyRow } from './reply-row.js'

const range = { min: { a: 0 }, max: { a: 1 } }

export const memberReplies: readonly ReplyRow[] = [
  { command: { addShardToZone: 'shard01', zone: 'x' }, db: admin, types: {} },
  { command: { updateZoneKeyRange: 'types.zoned', ...range, zone: 'x' }, db: admin, types: {} },
  { command: { updateZoneKeyRange: 'types.zoned', ...range, zone: null }, db: admin, types: {} },
  { command: { removeShardFromZone: 'shard01', zone: 'x' }, db: admin, types: {} },
  { command: { configureCollectionBalancing: 'types.sharded', chunkSize: 1 }, db: admin, types: {} },
  { command: { setAllowMigrations: 'types.sharded', allowMigrations: true }, db: admin, types: {} },
  {
    command: { balancerCollectionStatus: 'types.sharded' },
    db: admin,
    types: {
      chunkSize: 'double',
      balancerCompliant: 'bool',
      'firstComplianceViolation?': 'string',
      'details?': 'object',
    },
  },
  { command: { setFeatureCompatibilityVersion: '8.0', confirm: true }, db: admin, types: {} },
  { command: { movePrimary: 'types', to: 'shard01' }, db: admin, types: {} },
  // Adding an existing shard again succeeds.
  { command: { addShard: 'shard01/localhost:1' }, db: admin, types: { shardAdded: 'string' } },
  {
    command: { removeShard: 'shard02' },
    db: admin,
    types: {
      msg: 'string',
      state: 'string',
      shard: 'string',
      'note?': 'string',
      dbsToMove: 'array',
      collectionsToMove: 'array',
    },
  },
  {
    command: { removeShard: 'shard02' },
    db: admin,
    types: {
      msg: 'string',
      state: 'string',
      'shard?': 'string',
      'remaining?': 'object',
      'remaining.chunks?': 'long',
      'remaining.dbs?': 'long',
      'remaining.jumboChunks?': 'long',
      'note?': 'string',
      'dbsToMove?': 'array',
      'collectionsToMove?': 'array',
    },
  },
]
