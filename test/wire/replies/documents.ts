import type { Document } from '@shardlab/bson'
import { admin, cursorOf, lastCursor, type ReplyRow, type Types } from './reply-row.js'

const hello: Types = {
  msg: 'string',
  topologyVersion: 'object',
  'topologyVersion.processId': 'objectId',
  'topologyVersion.counter': 'long',
  maxBsonObjectSize: 'int',
  maxMessageSizeBytes: 'int',
  maxWriteBatchSize: 'int',
  localTime: 'date',
  logicalSessionTimeoutMinutes: 'int',
  connectionId: 'int',
  minWireVersion: 'int',
  maxWireVersion: 'int',
}

const duplicate: Types = {
  'writeErrors[].index': 'int',
  'writeErrors[].code': 'int',
  'writeErrors[].errmsg': 'string',
  'writeErrors[].keyPattern': 'object',
  'writeErrors[].keyValue': 'object',
  writeErrors: 'array',
}

const explained: Types = {
  queryPlanner: 'object',
  'queryPlanner.winningPlan.stage': 'string',
  'queryPlanner.winningPlan.shards[].explainVersion': 'string',
  'queryPlanner.winningPlan.shards[].shardName': 'string',
  queryShapeHash: 'string',
  serverInfo: 'object',
  'serverInfo.port': 'int',
  serverParameters: 'object',
  command: 'object',
}

export const documentReplies: readonly ReplyRow[] = [
  { command: { ping: 1 }, types: {} },
  { command: { hello: 1, helloOk: true }, db: admin, types: { isWritablePrimary: 'bool', helloOk: 'bool', ...hello } },
  { command: { isMaster: 1 }, db: admin, types: { ismaster: 'bool', ...hello } },
  { command: { isdbgrid: 1 }, db: admin, types: { isdbgrid: 'int', hostname: 'string' } },

  {
    command: { shardCollection: 'types.sharded', key: { _id: 'hashed' } },
    db: admin,
    types: { collectionsharded: 'string' },
  },
  {
    command: {
      insert: 'things',
      documents: [
        { _id: 1, a: 1 },
        { _id: 2, a: 2 },
        { _id: 3, a: 3 },
      ],
    },
    types: { n: 'int' },
  },
  { command: { insert: 'things', documents: [{ _id: 1 }] }, types: { n: 'int', ...duplicate } },
  {
    command: { insert: 'sharded', documents: Array.from({ length: 30 }, (_, i) => ({ _id: i, a: i })) },
    types: { n: 'int' },
  },
  {
    command: { insert: 'sharded', documents: [{ _id: 1 }, { _id: 2 }], ordered: false },
    types: { n: 'int', ...duplicate },
  },
  {
    command: {
      update: 'things',
      updates: [
        { q: { _id: 1 }, u: { $set: { b: 1 } } },
        { q: { _id: 9 }, u: { $set: { b: 1 } }, upsert: true },
      ],
    },
    types: { n: 'int', nModified: 'int', upserted: 'array', 'upserted[].index': 'int', 'upserted[]._id': 'int' },
  },
  {
    command: { update: 'sharded', updates: [{ q: {}, u: { $set: { b: 1 } }, multi: true }] },
    types: { n: 'int', nModified: 'int' },
  },
  { command: { delete: 'things', deletes: [{ q: { _id: 9 }, limit: 1 }] }, types: { n: 'int' } },
  { command: { delete: 'sharded', deletes: [{ q: { a: 29 }, limit: 0 }] }, types: { n: 'int' } },
  {
    command: { findAndModify: 'things', query: { _id: 1 }, update: { $inc: { a: 1 } } },
    types: {
      lastErrorObject: 'object',
      'lastErrorObject.n': 'int',
      'lastErrorObject.updatedExisting': 'bool',
      value: 'object',
    },
  },
  {
    command: { findAndModify: 'things', query: { _id: 10 }, update: { $set: { a: 1 } }, upsert: true },
    types: {
      lastErrorObject: 'object',
      'lastErrorObject.n': 'int',
      'lastErrorObject.updatedExisting': 'bool',
      'lastErrorObject.upserted': 'int',
      value: 'null',
    },
  },
  {
    command: { findAndModify: 'things', query: { _id: 10 }, remove: true },
    types: { lastErrorObject: 'object', 'lastErrorObject.n': 'int', value: 'object' },
  },
  {
    command: {
      bulkWrite: 1,
      ops: [
        { insert: 0, document: { _id: 50 } },
        { update: 0, filter: { _id: 51 }, updateMods: { $set: { a: 1 } }, upsert: true },
        { delete: 0, filter: { _id: 50 } },
        { insert: 0, document: { _id: 51 } },
      ],
      nsInfo: [{ ns: 'types.things' }],
    },
    db: admin,
    types: {
      ...cursorOf(
        'firstBatch',
        'ok:double',
        'idx:int',
        'n:int',
        'nModified:int',
        'upserted:object',
        'code:int',
        'errmsg:string',
      ),
      nErrors: 'int',
      nInserted: 'int',
      nMatched: 'int',
      nModified: 'int',
      nUpserted: 'int',
      nDeleted: 'int',
    },
  },

  { command: { find: 'things', batchSize: 1 }, types: cursorOf('firstBatch', '_id:int') },
  {
    command: { getMore: lastCursor, collection: 'things' } as unknown as Document,
    types: cursorOf('nextBatch', '_id:int'),
  },
  { command: { find: 'sharded', batchSize: 1 }, types: cursorOf('firstBatch', '_id:int') },
  {
    command: { killCursors: 'sharded', cursors: [lastCursor] } as unknown as Document,
    types: {
      cursorsKilled: 'array',
      'cursorsKilled[]': 'long',
      cursorsNotFound: 'array',
      cursorsAlive: 'array',
      cursorsUnknown: 'array',
    },
  },
  { command: { find: 'nothing' }, types: cursorOf('firstBatch') },
  { command: { aggregate: 'things', pipeline: [], cursor: {} }, types: cursorOf('firstBatch', '_id:int') },
  {
    command: {
      aggregate: 'sharded',
      pipeline: [{ $group: { _id: null, count: { $sum: 1 }, average: { $avg: '$a' } } }],
      cursor: {},
    },
    types: cursorOf('firstBatch', 'count:int', 'average:double'),
  },
  {
    command: { aggregate: 'sharded', pipeline: [{ $count: 'n' }], cursor: {} },
    types: cursorOf('firstBatch', 'n:int'),
  },
  { command: { count: 'things' }, types: { n: 'int', 'shards?': 'object', 'shards.*': 'anything' } },
  { command: { count: 'sharded' }, types: { n: 'int', shards: 'object', 'shards.shard01': 'int' } },
  { command: { distinct: 'sharded', key: 'a' }, types: { values: 'array', 'values[]': 'int' } },
  { command: { explain: { find: 'things' }, verbosity: 'queryPlanner' }, types: explained },
  {
    command: { explain: { find: 'sharded', filter: { a: 1 } }, verbosity: 'executionStats' },
    types: {
      executionStats: 'object',
      'executionStats.nReturned': 'int',
      'executionStats.executionTimeMillis': 'int',
      'executionStats.totalKeysExamined': 'int',
      'executionStats.totalDocsExamined': 'int',
      'executionStats.executionStages': 'object',
      ...explained,
    },
  },
]
