import t from 'tap'
import { Long } from '@shardlab/bson'
import { FakeCluster } from './support/fake-cluster.js'
import { RealCluster } from './support/real-cluster.js'

t.test('plan cache commands run on the owners, and the reply is that of the first one', async (t) => {
  const cluster = await RealCluster.create()
  await cluster.run({ insert: 'c', documents: [-1, 1, 101].map((x) => ({ x })) })
  t.match(await cluster.run({ planCacheListFilters: 'c' }), {
    filters: [],
    shard01: { filters: [], ok: 1 },
    shard02: { filters: [], ok: 1 },
    shard03: { filters: [], ok: 1 },
    ok: 1,
  })
  t.match(await cluster.run({ planCacheClear: 'c' }), { shard01: { ok: 1 }, shard03: { ok: 1 }, ok: 1 })
  t.match(await cluster.run({ planCacheClearFilters: 'c', sort: {} }), { ok: 0, code: 2, shard01: { ok: 0, code: 2 } })
  t.match(await cluster.run({ planCacheClear: 'c', $db: 'missing' }), { code: 26 })
  t.match(await cluster.run({ aggregate: 'c', pipeline: [{ $planCacheStats: {} }], cursor: {} }), {
    cursor: { firstBatch: [] },
  })
})

t.test('routers refuse compact and lack applyOps, reIndex and replSetGetConfig', async (t) => {
  const cluster = await RealCluster.create()
  t.match(await cluster.run({ compact: 'c', force: true }), { code: 115, errmsg: 'compact not allowed through mongos' })
  t.match(await cluster.run({ applyOps: [], $db: 'admin' }), { code: 59 })
  t.match(await cluster.run({ reIndex: 'c' }), { code: 59 })
  t.match(await cluster.run({ replSetGetConfig: 1, $db: 'admin' }), { code: 59 })
})

t.test('getCmdLineOpts and serverStatus of a router', async (t) => {
  const cluster = new FakeCluster()
  await cluster.world.drain()
  t.match(await cluster.run({ getCmdLineOpts: 1, $db: 'admin' }), {
    argv: ['mongos', '--configdb', String, '--bind_ip', String, '--port', String, '--setParameter', String],
    parsed: { net: { port: Number }, sharding: { configDB: String } },
  })
  await cluster.mongos.wake!('ping')
  t.match(await cluster.run({ serverStatus: 1 }), { sharding: { maxChunkSizeInBytes: Long.fromNumber(65_536) } })
})

t.test('D702 connPoolStats of a router lists the replica sets that it knows', async (t) => {
  const cluster = new FakeCluster()
  await cluster.world.drain()
  await cluster.mongos.wake!('ping')
  const { replicaSets, pools, totalInUse } = await cluster.run({ connPoolStats: 1 })
  t.same([pools, totalInUse], [{}, 0])
  t.match(replicaSets['shard01'], { hosts: [{ addr: String, ok: true, ismaster: true, pingTimeMillis: 0 }] })
})

t.test('sizes in listDatabases of a router are plain numbers until 4.4', async (t) => {
  for (const emulate of ['4.4', '5.0'] as const) {
    const number = (value: number) => (emulate === '4.4' ? value : Long.fromNumber(value))
    const cluster = new FakeCluster({ emulate })
    const sizeOnDisk = Long.fromNumber(2 ** 31)
    cluster.script((shard) => ({ databases: shard === 'shard01' ? [{ name: 'a', sizeOnDisk }] : [], ok: 1 }))
    cluster.scripts.set('config', () => ({ databases: [{ name: 'config', sizeOnDisk: Long.fromNumber(2) }], ok: 1 }))
    const { databases, totalSize, totalSizeMb } = await cluster.run({ listDatabases: 1, $db: 'admin' })
    t.same(databases[0].shards, { shard01: number(2 ** 31) })
    t.same(databases[1].sizeOnDisk, number(2))
    t.same([totalSize, totalSizeMb], [number(2 ** 31 + 2), number(2048)])
  }
})
