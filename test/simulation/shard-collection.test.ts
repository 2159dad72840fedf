/**
 * shardCollection and refineCollectionShardKey, by version. Manual: core/sharding-shard-key,
 * core/sharding-shard-key-indexes.
 */
import t from 'tap'
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'

interface World {
  readonly cluster: SimulatedCluster
  readonly run: (command: Document, to?: string) => Promise<Document>
  readonly find: (ns: string, filter?: Document) => Promise<Document[]>
}

/** Runs `work` in a cluster of two shards and two routers with database `app` on shard01. */
async function inCluster(emulate: EmulatedVersion, work: (world: World) => Promise<void>): Promise<void> {
  const cluster = await createSimulatedCluster({ seed: 7, shards: 2, mongos: 2, emulate })
  const run = async (command: Document, to = 'mongos01') =>
    decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'app' }), { to }), { promoteLongs: true })
  const find = async (ns: string, filter: Document = {}) => {
    const [db, name] = ns.split('.') as [string, string]
    return (await run({ find: name, filter, $db: db }))['cursor'].firstBatch as Document[]
  }
  try {
    await run({ enableSharding: 'app', ...(emulate === '2.6' ? {} : { primaryShard: 'shard01' }), ...admin })
    await work({ cluster, run, find })
  } finally {
    await cluster.stop()
  }
}

const admin = { $db: 'admin' }

t.test('after refineCollectionShardKey both routers find all documents, with and without the new field', async (t) => {
  for (const version of ['4.4', '8.0'] as const) {
    await inCluster(version, async ({ run, find }) => {
      t.match(await run({ shardCollection: 'app.c', key: { a: 'hashed' }, ...admin }), { ok: 1 })
      await run({
        insert: 'c',
        documents: Array.from({ length: 20 }, (_, i) => ({ _id: i, a: i % 5, ...(i % 2 === 0 ? { b: i } : {}) })),
      })
      t.match(await run({ find: 'c', filter: { a: 3 } }, 'mongos02'), { ok: 1 }, 'the other router knows the old key')
      const refine = { refineCollectionShardKey: 'app.c', key: { a: 'hashed', b: 1 }, ...admin }
      t.match(await run(refine), { ok: 0, code: 72 }, 'an index comes first')
      t.match(await run({ createIndexes: 'c', indexes: [{ key: { a: 'hashed', b: 1 }, name: 'ab' }] }), { ok: 1 })
      t.match(await run(refine), { ok: 1 })
      t.match(await run(refine), { ok: 1 }, 'again')
      for (const router of ['mongos01', 'mongos02']) {
        const { cursor } = await run({ find: 'c', filter: { _id: { $lt: 100 } }, batchSize: 100 }, router)
        t.equal((cursor.firstBatch as Document[]).length, 20, router)
        t.equal(
          ((await run({ find: 'c', filter: { a: 2, b: 2 } }, router))['cursor'].firstBatch as Document[]).length,
          1,
        )
        t.match(await run({ insert: 'c', documents: [{ a: 1, b: router }] }, router), { n: 1 })
      }
      t.equal((await find('app.c', { a: 1 })).length, 6, 'a prefix of the key')
      t.match(await run({ update: 'c', updates: [{ q: { a: 2, b: 2 }, u: { $set: { x: 1 } } }] }, 'mongos02'), {
        n: 1,
        nModified: 1,
      })
      t.match(await find('config.collections', { _id: 'app.c' }), [{ key: { a: 'hashed', b: 1 } }])
      t.equal((await find('config.changelog', { what: /^refineCollectionShardKey/ })).length, 2)
    })
  }
  await inCluster('4.0', async ({ run }) => {
    t.match(
      await run({ refineCollectionShardKey: 'app.c', key: { a: 1 }, ...admin }),
      { ok: 0, code: 59 },
      'new in 4.4',
    )
  })
})

t.test('refineCollectionShardKey refuses invalid keys', async (t) => {
  await inCluster('7.0', async ({ run }) => {
    const refine = (ns: unknown, rest: Document = { key: { a: 1 } }) =>
      run({ refineCollectionShardKey: ns, ...rest, ...admin })
    t.match(await refine('nowhere.c'), { code: 26, errmsg: 'database nowhere not found' })
    t.match(await refine('app.c'), { code: 118, errmsg: 'Expected collection app.c to be sharded' })
    t.match(await refine({ _id: 1 }), { code: 14 })
    t.match(await refine('app.c', {}), { code: 40414 })
    t.match(await refine('app.c', { key: 'blah' }), { code: 14 })
    t.match(
      await refine('app.c', { key: { a: 1 }, nonsense: 1 }),
      { code: 118 },
      'what it does not know it does not look at',
    )
    t.match(
      await run({ refineCollectionShardKey: 'app.c', key: { a: 1 } }),
      { code: 13, codeName: 'Unauthorized' },
      'on admin only',
    )
  })
})

t.test('refining a key extends its zones', async (t) => {
  await inCluster('7.0', async ({ run, find }) => {
    await run({ shardCollection: 'app.c', key: { a: 1 }, ...admin })
    await run({ addShardToZone: 'shard02', zone: 'z', ...admin })
    await run({ updateZoneKeyRange: 'app.c', min: { a: 0 }, max: { a: 10 }, zone: 'z', ...admin })
    await run({ createIndexes: 'c', indexes: [{ key: { a: 1, b: 1 }, name: 'ab' }] })
    t.match(await run({ refineCollectionShardKey: 'app.c', key: { a: 1, b: 1 }, ...admin }), { ok: 1 })
    const [zone] = await find('config.tags')
    t.same(Object.keys(zone!['min']), ['a', 'b'])
    t.equal(zone!['min'].b._bsontype, 'MinKey')
    t.equal(zone!['max'].b._bsontype, 'MinKey')
  })
})

t.test('zones defined before sharding place documents from the start', async (t) => {
  await inCluster('7.0', async ({ run, find }) => {
    await run({ addShardToZone: 'shard02', zone: 'eu', ...admin })
    t.match(
      await run({ updateZoneKeyRange: 'app.c', min: { country: 'DE' }, max: { country: 'DF' }, zone: 'eu', ...admin }),
      { ok: 1 },
    )
    t.match(await run({ shardCollection: 'app.c', key: { country: 1, n: 1 }, ...admin }), {
      code: 72,
      errmsg: /does not match with the shard key/,
    })
    t.match(await run({ shardCollection: 'app.c', key: { country: 1 }, ...admin }), { ok: 1 })
    t.equal((await find('config.chunks')).length, 3)
    await run({ insert: 'c', documents: [{ country: 'DE' }, { country: 'DE' }] })
    t.equal(
      ((await run({ find: 'c' }, 'shard02'))['cursor'].firstBatch as Document[]).filter(
        ({ country }) => country === 'DE',
      ).length,
      2,
    )
  })
})

t.test('unique indexes are checked through a router', async (t) => {
  await inCluster('7.0', async ({ run }) => {
    await run({ shardCollection: 'app.c', key: { a: 'hashed' }, ...admin })
    const create = (key: Document) => run({ createIndexes: 'c', indexes: [{ key, name: 'u', unique: true }] })
    const reply = await create({ u: 1 })
    t.match(reply, {
      ok: 0,
      code: 67,
      codeName: 'CannotCreateIndex',
      errmsg: 'cannot create unique index over { u: 1 } with shard key pattern { a: "hashed" }',
    })
    t.equal(Object.keys(reply['raw']).length, 2, 'each shard says so')
    t.match(await create({ a: 1, u: 1 }), { ok: 1 })
    t.match(
      await run({
        insert: 'c',
        documents: [
          { _id: 1, a: 1 },
          { _id: 2, a: 1 },
        ],
      }),
      { n: 1, writeErrors: [{ code: 11000 }] },
      'missing is null, once',
    )
  })
})

t.test('_id is unique on each shard only', async (t) => {
  await inCluster('7.0', async ({ cluster, run, find }) => {
    await run({ shardCollection: 'app.c', key: { a: 'hashed' }, ...admin })
    // One value for each shard.
    const owners = new Map<string, number>()
    for (let a = 0; owners.size < 2; a++) {
      await run({ insert: 'c', documents: [{ _id: `probe ${a}`, a }] })
      for (const shard of ['shard01', 'shard02'])
        if (
          ((await run({ find: 'c', filter: { a } }, shard))['cursor'].firstBatch as Document[]).length > 0 &&
          !owners.has(shard)
        )
          owners.set(shard, a)
    }
    for (const a of owners.values()) t.match(await run({ insert: 'c', documents: [{ _id: 'same', a }] }), { n: 1 })
    t.equal((await find('app.c', { _id: 'same' })).length, 2)
    t.match(await run({ insert: 'c', documents: [{ _id: 'same', a: owners.get('shard01')! }] }), {
      writeErrors: [{ code: 11000 }],
    })
    t.ok(cluster)
  })
})

t.test('2.6 replies with its own texts', async (t) => {
  await inCluster('2.6', async ({ run, find }) => {
    t.match(await run({ enableSharding: 'app', ...admin }), { ok: 0, errmsg: 'already enabled' })
    const unknown = await run({ shardCollection: 'other.c', key: { a: 1 }, ...admin })
    t.match(unknown, { ok: 0, errmsg: 'sharding not enabled for db' })
    t.notOk('code' in unknown)
    t.match(
      await run({ shardCollection: 'app.c', ...admin }),
      { collectionsharded: 'app.c', ok: 1 },
      'without a key: on _id',
    )
    t.match(await find('config.collections', { _id: 'app.c' }), [{ key: { _id: 1 } }])
    const again = await run({ shardCollection: 'app.c', key: { _id: 1 }, ...admin })
    t.match(again, { ok: 0, errmsg: 'already sharded' })
    t.notOk('code' in again)
  })
  await inCluster('4.0', async ({ run }) => {
    t.match(await run({ enableSharding: 'app', ...admin }), { ok: 1 })
    t.match(await run({ shardCollection: 'app.c', ...admin }), { code: 40414 })
    t.match(await run({ shardCollection: 'other.c', key: { a: 1 }, ...admin }), {
      code: 26,
      errmsg: 'database other not found',
    })
  })
})

t.test('some collections cannot be sharded, D811', async (t) => {
  await inCluster('7.0', async ({ run, find }) => {
    const shard = (ns: string, key: Document = { a: 1 }) => run({ shardCollection: ns, key, ...admin })
    t.match(await shard('config.c'), { code: 20, errmsg: 'only special collections in the config db may be sharded' })
    t.match(await shard('config.system.sessions', { _id: 1 }), { code: 20 }, 'D811')
    t.match(await shard('app.system.js'), { code: 20 })
    t.match(await shard('admin.c'), { ok: 0 })
    await run({ create: 'v', viewOn: 'c', pipeline: [] })
    t.match(await shard('app.v'), { code: 166 })
    await run({ create: 'capped', capped: true, size: 4096 })
    t.match(await shard('app.capped'), { code: 72, errmsg: "can't shard a capped collection" })
    t.match(await shard('app.c', { $a: 1 }), { code: 2 })
    t.same(await find('config.collections', { _id: /^app/ }), [])
    t.same(await find('config.changelog', { ns: /^app/ }), [])
  })
})

t.test('copies of a collection keep the version of its _id index', async (t) => {
  await using cluster = await createSimulatedCluster({ seed: 1, shards: 2 })
  const ask = async (command: Document, to = 'mongos01') =>
    decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'app' }), { to }), { promoteLongs: true })
  t.match(await ask({ enableSharding: 'app', primaryShard: 'shard01', $db: 'admin' }), { ok: 1 })
  t.match(await ask({ create: 'c', idIndex: { v: 1, key: { _id: 1 }, name: '_id_' } }), { ok: 1 })
  t.match(await ask({ shardCollection: 'app.c', key: { _id: 1 }, $db: 'admin' }), { ok: 1 })
  t.match(await ask({ moveChunk: 'app.c', find: { _id: 1 }, to: 'shard02', $db: 'admin' }), { ok: 1 })
  t.match(await ask({ listIndexes: 'c' }, 'shard02'), { cursor: { firstBatch: [{ v: 1, key: { _id: 1 } }] } })
})
