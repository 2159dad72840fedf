import { BsonType, decode, encode, findField, Long, MaxKey, MinKey, UUID, type Document } from '@shardlab/bson'
import { createDeferred } from '@shardlab/actor'
import t from 'tap'
import { cursorReply, FakeCluster } from './support/fake-cluster.js'

const admin = { $db: 'admin' }

const shardStats = (count: number, bytes: number): Document => ({
  ns: 'test.c',
  size: bytes,
  count,
  avgObjSize: Math.floor(bytes / count),
  numOrphanDocs: 0,
  storageSize: bytes,
  capped: false,
  nindexes: 1,
  indexDetails: { _id_: {} },
  totalIndexSize: 100,
  totalSize: bytes + 100,
  indexSizes: { _id_: 100 },
  scaleFactor: 1,
  ok: 1,
})

function sharded(): FakeCluster {
  const cluster = new FakeCluster()
  cluster.shardByRange('test.c', 'x', [0, 10], ['shard01', 'shard02', 'shard01'])
  return cluster
}

t.test('collStats scales the sums', async (t) => {
  const cluster = sharded()
  cluster.script((shard, command) => {
    t.equal(findField(command.body, 'scale'), undefined, 'shards answer in bytes')
    return shard === 'shard01' ? shardStats(3, 1500) : shardStats(1, 600)
  })
  const stats = await cluster.run({ collStats: 'c', scale: 1000 })
  t.same(Object.keys(stats).slice(0, -2), [
    'sharded',
    'capped',
    'indexDetails',
    'ns',
    'count',
    'size',
    'storageSize',
    'totalIndexSize',
    'totalSize',
    'indexSizes',
    'avgObjSize',
    'maxSize',
    'nindexes',
    'scaleFactor',
    'nchunks',
    'shards',
    'ok',
  ])
  t.match(stats, {
    sharded: true,
    count: 4,
    size: 2,
    avgObjSize: 525,
    nchunks: 3,
    shards: { shard01: { size: 1, scaleFactor: 1000 }, shard02: { size: 0 } },
  })
  t.match(await cluster.run({ collStats: 'c', scale: 0 }), { code: 4390200 })
  t.match(await cluster.run({ collStats: 'c', scale: 'x' }), { code: 4390201 })
  t.match(await cluster.run({ collStats: 'other' }), { sharded: false, primary: 'shard01', nchunks: 1 })
})

t.test('dbStats reports each shard and the sums', async (t) => {
  const cluster = sharded()
  cluster.script(() => ({
    db: 'test',
    collections: Long.ONE,
    views: Long.ZERO,
    objects: Long.fromNumber(2),
    avgObjSize: 50,
    dataSize: 100,
    storageSize: 100,
    indexes: Long.ONE,
    indexSize: 10,
    totalSize: 110,
    scaleFactor: Long.ONE,
    ok: 1,
  }))
  const stats = await cluster.run({ dbStats: 1 })
  t.match(stats, {
    db: 'test',
    collections: 3,
    objects: 6,
    avgObjSize: 50,
    dataSize: 300,
    totalSize: 330,
    scaleFactor: 1,
  })
  t.same(Object.keys(stats['raw'] as Document), [
    'shard01/127.0.0.1:5000',
    'shard02/127.0.0.1:5001',
    'shard03/127.0.0.1:5002',
  ])
  t.match(await cluster.run({ dbStats: 1, scale: 0 }), { code: 2, errmsg: 'Scale must be greater than zero' })
})

t.test('dataSize goes to the owners of the namespace, which may be in another database than the command', async (t) => {
  const cluster = sharded()
  cluster.script(() => ({ size: Long.fromNumber(5), numObjects: Long.ONE, millis: Long.ZERO, ok: 1 }))
  t.match(await cluster.run({ dataSize: 'test.c', ...admin }), {
    size: Long.fromNumber(10),
    numObjects: Long.fromNumber(2),
  })
  t.match(await cluster.run({ dataSize: 'nowhere.c' }), { code: 26 })
})

t.test('validate reports each shard and is valid only if all are', async (t) => {
  const cluster = sharded()
  cluster.script((shard) => ({ ns: 'test.c', valid: shard === 'shard01', ok: 1 }))
  t.match(await cluster.run({ validate: 'c' }), {
    valid: false,
    raw: { shard01: { valid: true }, shard02: { valid: false } },
  })
  t.match(await cluster.run({ validate: 'other' }), { ns: 'test.c', valid: true, raw: { shard01: { valid: true } } })
  cluster.script((shard) => (shard === 'shard01' ? { ok: 1, valid: true } : { ok: 0, code: 26, errmsg: 'gone' }))
  t.match(await cluster.run({ validate: 'c' }), { ok: 0, code: 26, raw: { shard02: { errmsg: 'gone' } } })
})

t.test('currentOp lists operations of shards, and killOp ends them', async (t) => {
  const cluster = new FakeCluster()
  cluster.script((shard, _command, name) =>
    name === 'currentOp'
      ? { inprog: [{ shard, type: 'op', opid: `${shard}:7` }], ok: 1 }
      : { info: 'attempting to kill op', ok: 1 },
  )
  const { inprog } = await cluster.run({ currentOp: 1, ...admin })
  t.same(
    (inprog as Document[]).map(({ opid }) => opid),
    ['shard01:7', 'shard02:7', 'shard03:7'],
  )
  t.match(await cluster.run({ killOp: 1, op: 'shard02:7', ...admin }), { shard: 'shard02', shardid: 7, ok: 1 })
  t.match(cluster.commandsTo('shard02').at(-1), { body: { killOp: 1, op: 7 } })
  t.match(await cluster.run({ killOp: 1, op: 'shard09:7', ...admin }), { code: 70 })
  t.match(await cluster.run({ killOp: 1, op: 'shard09', ...admin }), { code: 28625 })
  t.match(await cluster.run({ killOp: 1, op: 'shard01:x', ...admin }), { code: 9 })
  t.match(await cluster.run({ killOp: 1, ...admin }), { code: 50759 })
  t.match(await cluster.run({ killOp: 1, op: {}, ...admin }), { code: 50760 })
})

t.test('a killed operation stops waiting for a shard; D707: the shard continues', async (t) => {
  const cluster = new FakeCluster()
  const gate = createDeferred<Document>()
  cluster.script(() => gate.promise)
  const running = cluster.start({ find: 'c', comment: 'slow' })
  // The kill must be sent while the find is on its way to the shard.
  while (cluster.commandsTo('shard01').length === 0) await cluster.run({ ping: 1 }, { connectionId: 2 })
  const list = await cluster.run(
    { aggregate: 1, pipeline: [{ $currentOp: { localOps: true } }], cursor: {}, ...admin },
    { connectionId: 2 },
  )
  const [found] = (list['cursor'].firstBatch as Document[]).filter(
    ({ command }) => (command as Document)['comment'] === 'slow',
  )
  t.match(found, { type: 'op', op: 'query', ns: 'test.c', desc: 'conn1', client: '127.0.0.1:1' })
  t.notOk('locks' in found!)
  t.match(await cluster.run({ killOp: 1, op: found!['opid'], ...admin }, { connectionId: 2 }), { ok: 1 })
  t.match(decode(await cluster.world.settle(running)), { ok: 0, code: 11601, codeName: 'Interrupted' })
  t.equal(cluster.countSent('node.command'), 1)
  gate.resolve(cursorReply([]))
})

for (const version of ['4.0', '4.4', '8.0'] as const)
  t.test(`${version}: commands for shards have the comment of their operation, since 4.4`, async (t) => {
    const cluster = new FakeCluster({ emulate: version })
    cluster.script((_shard, _command, name) =>
      name === 'find' ? cursorReply([{ _id: 1 }], { id: 5n }) : { ok: 1, n: 1 },
    )
    const { cursor } = await cluster.run({ find: 'c', batchSize: 1, comment: 'of the find' })
    const isGeneric = version !== '4.0'
    const comments = (name: string) =>
      ['shard01', 'shard02', 'shard03'].flatMap((shard) =>
        cluster
          .commandsTo(shard)
          .filter((sent) => sent.name === name)
          .map(({ body }) => body['comment']),
      )
    await cluster.run({ getMore: cursor.id, collection: 'c', batchSize: 1 })
    t.same([...new Set(comments('getMore'))], [isGeneric ? 'of the find' : undefined])
    if (!isGeneric) return
    await cluster.run({ insert: 'c', documents: [{ _id: 2 }], comment: ['of the insert'] })
    t.same(comments('insert'), [['of the insert']])
    await cluster.run({ update: 'c', updates: [{ q: { _id: 2 }, u: { $set: { x: 1 } } }], comment: 7 })
    t.same(comments('update'), [7])
  })

t.test('sessions are killed on this router and on all members', async (t) => {
  const cluster = new FakeCluster()
  cluster.scripts.set('config', () => ({ ok: 1 }))
  cluster.script((_shard, _command, name) => (name === 'find' ? cursorReply([{ _id: 1 }], { id: 5n }) : { ok: 1 }))
  const { id } = await cluster.run({ startSession: 1 })
  const { cursor } = await cluster.run({ find: 'c', batchSize: 1, lsid: id })
  t.match(await cluster.run({ killSessions: [id] }), { ok: 1 })
  t.match(await cluster.run({ getMore: cursor.id, collection: 'c', lsid: id }), { code: 43 })
  for (const shard of ['shard01', 'shard02', 'shard03'])
    t.equal(cluster.commandsTo(shard).filter(({ name }) => name === 'killSessions').length, 1, shard)
  t.match(await cluster.run({ killAllSessions: [] }), { ok: 1 })
  t.match(await cluster.run({ killAllSessionsByPattern: [{ lsid: 1 }] }), { ok: 1 })
})

t.test('D703 a router lists its own sessions', async (t) => {
  const cluster = new FakeCluster()
  const { id } = await cluster.run({ startSession: 1 })
  const local = await cluster.run({ aggregate: 1, pipeline: [{ $listLocalSessions: {} }], cursor: {}, ...admin })
  t.same(local['cursor'].firstBatch[0]._id.id, id.id)
  const all = await cluster.run({
    aggregate: 'system.sessions',
    pipeline: [{ $listSessions: {} }],
    cursor: {},
    $db: 'config',
  })
  t.same(all['cursor'].firstBatch[0]._id.id, id.id)
})

t.test('serverStatus has the sections of a router', async (t) => {
  const cluster = new FakeCluster({ configHost: 'csrs/127.0.0.1:27019' })
  cluster.script(() => cursorReply([]))
  await cluster.run({ find: 'c' })
  await cluster.run({ nonsense: 1 })
  await cluster.run({ ping: 1, apiVersion: '9' })
  const reply = await cluster.runRaw({ serverStatus: 1 })
  t.equal(findField(reply, 'pid')!.type, BsonType.int64)
  const status = decode(reply)
  t.match(status, {
    process: 'mongos',
    asserts: { user: 1 },
    opcounters: { query: Long.ONE },
    sharding: {
      configsvrConnectionString: 'csrs/127.0.0.1:27019',
      maxChunkSizeInBytes: Long.fromNumber(128 * 1024 * 1024),
    },
    metrics: { commands: { find: { total: Long.ONE }, ping: { failed: Long.ONE }, '<UNKNOWN>': Long.ONE } },
  })
  t.notOk('repl' in status)
  t.notOk('shardingStatistics' in (await cluster.run({ serverStatus: 1, shardingStatistics: 0 })))
})

t.test('every command counts once', async (t) => {
  const cluster = new FakeCluster()
  cluster.script((_shard, _command, name) => (name === 'find' ? cursorReply([]) : { n: 2, ok: 1 }))
  await cluster.run({ ping: 1 })
  await cluster.run({ find: 'c' })
  await cluster.run({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }] })
  const { opcounters } = await cluster.run({ serverStatus: 1 })
  t.same(opcounters, {
    insert: Long.fromNumber(2),
    query: Long.ONE,
    update: Long.ZERO,
    delete: Long.ZERO,
    getmore: Long.ZERO,
    command: Long.fromNumber(2),
  })
})

t.test('requireApiVersion refuses commands without apiVersion', async (t) => {
  const cluster = new FakeCluster()
  t.match(await cluster.run({ setParameter: 1, requireApiVersion: true, ...admin }), { was: false, ok: 1 })
  t.match(await cluster.run({ ping: 1 }), { code: 498870 })
  t.match(await cluster.run({ ping: 1, apiVersion: '1' }), { ok: 1 })
})

t.test('a router answers diagnostic commands about itself', async (t) => {
  const cluster = new FakeCluster()
  t.match(await cluster.run({ replSetGetStatus: 1, ...admin }), {
    ok: 0,
    errmsg: 'replSetGetStatus is not supported through mongos',
    info: 'mongos',
  })
  t.match(await cluster.run({ profile: 1 }), { code: 2, errmsg: /^Profiling is not permitted on mongoS/ })
  t.match(await cluster.run({ profile: 0, slowms: 5 }), { was: 0, slowms: 100 })
  t.match(await cluster.run({ getDefaultRWConcern: 1, inMemory: true, ...admin }), {
    defaultReadConcern: { level: 'local' },
    defaultWriteConcern: { w: 'majority', wtimeout: 0 },
    inMemory: true,
    localUpdateWallClockTime: Date,
  })
  t.notOk('ttlMonitorEnabled' in (await cluster.run({ getParameter: '*', ...admin })), 'routers have no storage')
  t.match(await cluster.run({ listCommands: 1 }), {
    commands: { isdbgrid: { help: String }, hello: { apiVersions: ['1'] } },
  })
})

t.test('fsync goes to every shard', async (t) => {
  const cluster = new FakeCluster()
  cluster.script(() => ({ numFiles: 1, ok: 1 }))
  cluster.scripts.set('config', () => ({ numFiles: 1, ok: 1 }))
  t.match(await cluster.run({ fsync: 1, ...admin }), { numFiles: 1, all: { raw: { config: { numFiles: 1, ok: 1 } } } })
})

function consistent(): FakeCluster {
  const cluster = sharded()
  const uuid = new UUID('00112233-4455-6677-8899-aabbccddeeff')
  const documents: Readonly<Record<string, readonly Document[]>> = {
    databases: [{ _id: 'test', primary: 'shard01' }],
    collections: [{ _id: 'test.c', uuid, key: { x: 1 } }],
    chunks: ['shard01', 'shard02'].map((shard, i) => ({
      min: { x: i === 0 ? new MinKey() : 0 },
      max: { x: i === 0 ? 0 : new MaxKey() },
      shard,
    })),
    tags: [],
  }
  cluster.scripts.set('config', (command) => {
    const name = findField(command.body, 'find')!.asString()
    return cursorReply(documents[name]!, { ns: `config.${name}` })
  })
  cluster.onShardExchange = () => ({ inconsistencies: [], options: [] })
  return cluster
}

t.test('checkMetadataConsistency finds indexes that differ between shards', async (t) => {
  const cluster = consistent()
  const id = { v: 2, key: { _id: 1 }, name: '_id_' }
  const ttl = (expireAfterSeconds: number) => ({ v: 2, key: { t: 1 }, name: 't_1', expireAfterSeconds })
  cluster.script((shard) =>
    cursorReply(shard === 'shard01' ? [id, { v: 2, key: { a: 1 }, name: 'a_1' }, ttl(60)] : [id, ttl(90)]),
  )
  const { cursor } = await cluster.run({ checkMetadataConsistency: 1, checkIndexes: true })
  const inconsistent = (info: Document) => ({
    type: 'InconsistentIndex',
    description: 'Found an index of a sharded collection that is inconsistent between different shards',
    details: { namespace: 'test.c', info },
  })
  t.same(cursor.firstBatch, [
    inconsistent({ missingFromShards: ['shard02'], inconsistentProperties: [], indexName: 'a_1' }),
    inconsistent({
      missingFromShards: [],
      inconsistentProperties: [60, 90].map((v) => ({ k: 'expireAfterSeconds', v })),
      indexName: 't_1',
    }),
  ])
  t.same((await cluster.run({ checkMetadataConsistency: 1 }))['cursor'].firstBatch, [], 'only where it is asked for')
})

t.test(
  'checkMetadataConsistency asks every shard, and compares the options of owners and the primary shard',
  async (t) => {
    const cluster = consistent()
    const found = { type: 'MisplacedCollection', description: 'd', details: { namespace: 'test.stray' } }
    const asked: unknown[] = []
    cluster.onShardExchange = (shard, kind, request: { db: string; primary: string; only: string | null }) => {
      asked.push([shard, kind, request.db, request.primary, request.only])
      const options: [string, Uint8Array][] = [['test.c', encode({ validator: { v: shard === 'shard01' ? 1 : 2 } })]]
      return { inconsistencies: shard === 'shard03' ? [encode(found)] : [], options }
    }
    const { cursor } = await cluster.run({ checkMetadataConsistency: 'c' })
    t.match(cursor, { id: Long.ZERO, ns: 'test.c' })
    t.same(
      asked,
      ['shard01', 'shard02', 'shard03'].map((shard) => [shard, 'shard.check-metadata', 'test', 'shard01', 'test.c']),
    )
    t.same(cursor.firstBatch, [
      found,
      {
        type: 'CollectionOptionsMismatch',
        description: 'Found collection with mismatching options across shards and/or config server',
        details: {
          namespace: 'test.c',
          options: [
            { shards: ['shard01'], options: { validator: { v: 1 } } },
            { shards: ['shard02'], options: { validator: { v: 2 } } },
          ],
        },
      },
    ])
    t.match(await cluster.run({ checkMetadataConsistency: 'c', ...admin }), { code: 73 })
    t.match(await new FakeCluster({ emulate: '6.0' }).run({ checkMetadataConsistency: 1 }), { code: 59 })
  },
)
