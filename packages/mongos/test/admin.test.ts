import t from 'tap'
import {
  BsonType,
  CommandError,
  decode,
  encode,
  fieldsOf,
  findField,
  Long,
  ObjectId,
  Timestamp,
  type Document,
} from '@shardlab/bson'
import { cursorReply, errorReply, FakeCluster } from './support/fake-cluster.js'

const admin = { $db: 'admin' }

t.test(
  'shardCollection goes to the primary shard with the client body, and the router drops its cached placement',
  async (t) => {
    const cluster = new FakeCluster()
    const asked: Document[] = []
    cluster.onShardExchange = (shard, kind, request) => {
      asked.push({ shard, kind, ...(request as Document) })
      cluster.shardByRange('test.c', 'x', [], ['shard01'])
      return { uuid: new Uint8Array(16), error: null }
    }
    cluster.script(() => cursorReply([]))
    await cluster.run({ find: 'c' })
    t.match(await cluster.run({ shardCollection: 'test.c', key: { x: 1 }, ...admin }), {
      collectionsharded: 'test.c',
      ok: 1,
    })
    t.match(asked, [{ shard: 'shard01', kind: 'shard.create-sharded-collection', ns: 'test.c' }])
    t.match(decode(asked[0]!['body']), { key: { x: 1 } })
    await cluster.run({ find: 'c' })
    t.same(
      cluster
        .commandsTo('shard01')
        .map(({ command }) => (command.shardVersion === 'UNSHARDED' ? 'UNSHARDED' : 'placement')),
      ['UNSHARDED', 'placement'],
    )
  },
)

t.test('shardCollection refuses invalid requests and passes on errors of the primary shard', async (t) => {
  const cluster = new FakeCluster()
  cluster.onShardExchange = () => ({
    uuid: new Uint8Array(16),
    error: errorReply(new CommandError('AlreadyInitialized', 'sharded with another key')),
  })
  t.match(await cluster.run({ shardCollection: 'test.c', key: { y: 1 }, ...admin }), {
    ok: 0,
    code: 23,
    errmsg: 'sharded with another key',
  })
  t.match(await cluster.run({ shardCollection: 'test.c', ...admin }), { code: 40414 })
  t.match(await cluster.run({ shardCollection: 'test', key: { x: 1 }, ...admin }), { code: 73 })
  t.match(await cluster.run({ shardCollection: 'test.c', key: { x: 1 } }), { code: 13 })
  const old = new FakeCluster({ emulate: '4.4' })
  t.match(await old.run({ shardCollection: 'fresh.c', key: { x: 1 }, ...admin }), {
    code: 26,
    errmsg: 'database fresh not found',
  })
})

t.test('a command to a former primary shard is sent again to the new one', async (t) => {
  const cluster = new FakeCluster()
  cluster.onShardExchange = (shard, kind) => {
    if (shard === 'shard02')
      return kind === 'shard.drop-database' ? { error: null } : { existed: true, indexCount: 2, error: null }
    cluster.databases.set('test', { primary: 'shard02', lastMod: 2 })
    const error = encode({ ok: 0, code: 249, errmsg: 'stale' })
    return kind === 'shard.drop-database' ? { error } : { existed: false, indexCount: 0, error }
  }
  t.match(await cluster.run({ drop: 'c' }), { nIndexesWas: 2, ns: 'test.c', ok: 1 })
  t.match(await cluster.run({ dropDatabase: 1 }), { dropped: 'test', ok: 1 })
})

t.test('dropping a missing collection or database succeeds or fails as in the emulated version', async (t) => {
  const cluster = new FakeCluster()
  cluster.onShardExchange = () => ({ existed: false, indexCount: 0, error: null })
  t.match(await cluster.run({ drop: 'c' }), { ok: 1 })
  t.match(await cluster.run({ drop: 'c', $db: 'nowhere' }), { ok: 1 })
  t.match(await cluster.run({ dropDatabase: 1, $db: 'nowhere' }), { info: 'database does not exist', ok: 1 })
  t.match(await cluster.run({ dropDatabase: 1, ...admin }), { ok: 0, code: 20 })
  for (const [emulate, answer] of [
    ['2.6', { ok: 0, code: undefined, errmsg: 'ns not found' }],
    ['4.0', { ok: 1 }],
    ['6.0', { ok: 1 }],
  ] as const) {
    const old = new FakeCluster({ emulate })
    old.onShardExchange = cluster.onShardExchange
    t.match(await old.run({ drop: 'c' }), answer, emulate)
    t.match(await old.run({ drop: 'c', $db: 'nowhere' }), answer, emulate)
  }
})

t.test('createIndexes goes to every owner', async (t) => {
  const cluster = new FakeCluster()
  cluster.shardByRange('test.c', 'x', [0], ['shard01', 'shard03'])
  cluster.script(() => ({ numIndexesBefore: 1, numIndexesAfter: 2, ok: 1 }))
  await cluster.run({ listShards: 1, ...admin })
  const reply = await cluster.run({ createIndexes: 'c', indexes: [{ key: { y: 1 }, name: 'y_1' }] })
  t.match(reply, {
    raw: { 'shard01/127.0.0.1:5000': { numIndexesAfter: 2, ok: 1 }, 'shard03/127.0.0.1:5002': { ok: 1 } },
    ok: 1,
  })
  cluster.scripts.set('shard03', () => errorReply(new CommandError('CannotCreateIndex', 'bad')))
  t.match(await cluster.run({ createIndexes: 'c', indexes: [{ key: { y: 1 }, name: 'y_1' }] }), {
    ok: 0,
    code: 67,
    errmsg: 'bad',
    raw: { 'shard03/127.0.0.1:5002': { ok: 0, code: 67 } },
  })
})

t.test('listIndexes asks the owner of the lowest chunk, listCollections the primary shard', async (t) => {
  const cluster = new FakeCluster()
  cluster.shardByRange('test.c', 'x', [0], ['shard03', 'shard02'])
  cluster.script((shard) => cursorReply([{ name: shard }]))
  t.same((await cluster.run({ listIndexes: 'c' }))['cursor'].firstBatch, [{ name: 'shard03' }])
  t.same((await cluster.run({ listCollections: 1 }))['cursor'].firstBatch, [{ name: 'shard01' }])
  t.match(await cluster.run({ listIndexes: 'c', $db: 'nowhere' }), { code: 26, errmsg: 'ns does not exist: nowhere.c' })
  t.match(await cluster.run({ listCollections: 1, $db: 'nowhere' }), {
    cursor: { firstBatch: [], id: Long.ZERO, ns: 'nowhere.$cmd.listCollections' },
    ok: 1,
  })
})

t.test('listDatabases adds up sizes and reads config and admin from the config server', async (t) => {
  const cluster = new FakeCluster()
  const entry = (name: string, size: number) => ({ name, sizeOnDisk: Long.fromNumber(size), empty: false })
  cluster.script((shard) => ({
    databases: [
      entry('config', 5),
      entry('local', 5),
      entry('test', 3_000_000),
      ...(shard === 'shard02' ? [entry('b', 1)] : []),
    ],
    ok: 1,
  }))
  cluster.scripts.set('config', () => ({
    databases: [entry('admin', 7), entry('config', 9), entry('local', 1)],
    ok: 1,
  }))
  const reply = await cluster.runRaw({ listDatabases: 1, ...admin })
  const { databases, totalSize, totalSizeMb } = decode(reply)
  t.same(
    databases.map(({ name }: Document) => name),
    ['admin', 'b', 'config', 'test'],
  )
  t.match(databases[3], {
    sizeOnDisk: Long.fromNumber(9_000_000),
    empty: false,
    shards: { shard01: Long.fromNumber(3_000_000), shard02: {}, shard03: {} },
  })
  t.same(totalSize, Long.fromNumber(9_000_017))
  t.same(totalSizeMb, Long.fromNumber(8))
  t.same(Object.keys((await cluster.run({ listDatabases: 1, nameOnly: true, ...admin }))['databases'][0]), ['name'])
})

t.test('the router reports shards, hosts and cached versions', async (t) => {
  const cluster = new FakeCluster({ configHost: 'config/127.0.0.1:4999' })
  t.match(await cluster.run({ listShards: 1, ...admin }), {
    shards: [{ _id: 'shard01', host: 'shard01/127.0.0.1:5000', state: 1 }, {}, {}],
    ok: 1,
  })
  t.match(await cluster.run({ getShardMap: 1, ...admin }), {
    map: { config: 'config/127.0.0.1:4999', shard02: 'shard02/127.0.0.1:5001' },
    hosts: { '127.0.0.1:4999': 'config', '127.0.0.1:5001': 'shard02' },
    connStrings: { 'shard02/127.0.0.1:5001': 'shard02' },
    ok: 1,
  })
  t.match(await cluster.run({ isdbgrid: 1 }), { isdbgrid: 1, hostname: '127.0.0.1:27017', ok: 1 })
  const collection = cluster.shardByRange('test.c', 'x', [0], ['shard01', 'shard02'])
  t.match(await cluster.run({ getShardVersion: 'test.c', ...admin }), {
    version: new Timestamp({ t: 1, i: 1 }),
    versionEpoch: collection.epoch,
    versionTimestamp: new Timestamp({ t: 5, i: 1 }),
    ok: 1,
  })
  t.match(await cluster.run({ getShardVersion: 'test.plain', ...admin }), { code: 118 })
  t.match(await cluster.run({ getShardVersion: 'test', ...admin }), {
    primaryShard: 'shard01',
    version: { lastMod: 1 },
    ok: 1,
  })
  t.match(await cluster.run({ getShardVersion: 'nowhere', ...admin }), {
    code: 26,
    errmsg: 'database nowhere not found',
  })
  t.match(await cluster.run({ getShardVersion: 1, ...admin }), { code: 2, errmsg: 'namespace has invalid type int' })
  t.match(await cluster.run({ getShardVersion: 'test.c', fullMetadata: true, ...admin }), { ok: 1, chunks: [[{}, {}]] })
  t.ok((await cluster.run({ getShardVersion: 'test.c', ...admin }))['versionEpoch'] instanceof ObjectId)
})

t.test('balancer commands set the mode on the config server and read the state from the balancer', async (t) => {
  const cluster = new FakeCluster()
  cluster.world.members.set('balancer', () => ({ mode: 'full', inBalancerRound: false, numBalancerRounds: 3 }))
  const status = await cluster.runRaw({ balancerStatus: 1, ...admin })
  t.same(
    fieldsOf(status)
      .slice(0, 5)
      .map(([name, { type }]) => [name, type]),
    [
      ['mode', BsonType.string],
      ['inBalancerRound', BsonType.bool],
      ['numBalancerRounds', BsonType.int64],
      ['term', BsonType.int64],
      ['ok', BsonType.double],
    ],
  )
  t.match(await cluster.run({ balancerStop: 1, maxTimeMS: 60_000, ...admin }), { ok: 1 })
  t.match(await cluster.run({ balancerStart: 1, ...admin }), { ok: 1 })
  t.same(
    cluster.world.sent.filter(({ kind }) => kind === 'config.set-balancer-mode').map(({ request }) => request),
    [{ mode: 'off' }, { mode: 'full' }],
  )
  // balancerStop waits for the running round, at most for its maxTimeMS.
  let rounds = 3
  cluster.world.members.set('balancer', () => ({ mode: 'off', inBalancerRound: rounds-- > 0, numBalancerRounds: 3 }))
  t.match(await cluster.run({ balancerStop: 1, ...admin }), { ok: 1 })
  t.equal(rounds, -1)
  rounds = Infinity
  t.match(await cluster.run({ balancerStop: 1, maxTimeMS: 1000, ...admin }), { code: 50 })
})

t.test('enableSharding and create create missing databases', async (t) => {
  const cluster = new FakeCluster()
  t.match(await cluster.run({ enableSharding: 'one', primaryShard: 'shard02', ...admin }), { ok: 1 })
  t.equal(cluster.databases.get('one')!.primary, 'shard02')
  cluster.script(() => ({ ok: 1 }))
  t.match(await cluster.run({ create: 'c', capped: false, $db: 'two' }), { ok: 1 })
  t.match(cluster.commandsTo('shard01')[0]!, {
    body: { create: 'c', capped: false },
    command: { databaseVersion: Array },
  })
})

t.test('the router pings the config server, and keeps working without a reply', async (t) => {
  const cluster = new FakeCluster()
  await cluster.mongos.start!()
  await cluster.world.fire(cluster.mongos, 'ping')
  t.match(cluster.world.sent[0], {
    to: 'config',
    kind: 'config.mongos-ping',
    request: { host: '127.0.0.1:27017', upSeconds: 0 },
  })
  t.equal(cluster.world.timers.get('ping'), cluster.world.nowMs + 30_000)
  const answer = cluster.world.members.get('config')!
  cluster.world.members.delete('config')
  await cluster.world.fire(cluster.mongos, 'ping')
  t.ok(cluster.world.timers.has('ping'))
  cluster.world.members.set('config', answer)
  await cluster.world.fire(cluster.mongos, 'ping')
  t.match(
    cluster.world.sent.findLast(({ kind }) => kind === 'config.mongos-ping'),
    { request: { upSeconds: 75 } },
  )
})

t.test('serverStatus has the types that test suites read', async (t) => {
  const cluster = new FakeCluster()
  cluster.script((_shard, _command, name) => (name === 'find' ? cursorReply([]) : { n: 1, nModified: 1, ok: 1 }))
  await cluster.run({ find: 'c' })
  await cluster.run({ insert: 'c', documents: [{ _id: 1 }] })
  const reply = await cluster.runRaw({ serverStatus: 1 })
  t.equal(findField(reply, 'process')!.asString(), 'mongos')
  t.equal(findField(reply, 'uptime')!.type, BsonType.double)
  const status = decode(reply)
  t.match(status['opcounters'], { insert: Long.ONE, query: Long.ONE })
  t.match(status['shardingStatistics'].numHostsTargeted, {
    find: { unsharded: Long.ONE },
    insert: { unsharded: Long.ONE },
  })
  t.ok(status['metrics'].cursor.open.total instanceof Long)
  t.equal(status['connections'].current, 1)
})

t.test('a router refuses message kinds that it does not serve', async (t) => {
  const cluster = new FakeCluster()
  await t.rejects(
    async () => cluster.mongos.receive('config.get-shards', {}, 'shard01'),
    /does not serve config.get-shards/,
  )
})
