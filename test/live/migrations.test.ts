/**
 * Ranges migrate while applications work: through the official driver, two routers, and direct
 * connections to the shards.
 */
import t, { type Test } from 'tap'
import { randomBytes } from 'node:crypto'
import { Binary, Long } from '@shardlab/bson'
import { MongoClient, type Db, type Document, type MongoServerError } from 'mongodb'
import { ShardedCluster, type EmulatedVersion, type MigrationEvent } from 'shardlab'
import { RawClient } from '../support/raw-client.js'

interface Numbered {
  readonly _id: number
  readonly k: number
  readonly n: number
}

async function start(t: Test, options: { emulate?: EmulatedVersion; mongos?: number; shards?: number } = {}) {
  const cluster = await ShardedCluster.start({
    shards: 2,
    runtime: 'inline',
    balancerRoundIntervalMs: 100_000,
    ...options,
  })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  const admin = client.db('admin')
  await admin.command({ enableSharding: 'app' })
  const { primary } = (await client
    .db('config')
    .collection<{ _id: string; primary: string }>('databases')
    .findOne({ _id: 'app' }))!
  const other = cluster.shards.find(({ id }) => id !== primary)!.id
  return { cluster, client, admin, app: client.db('app'), config: client.db('config'), primary, other }
}

async function shard(admin: Db, app: Db, name: string, count: number, cut: number, padding = ''): Promise<void> {
  await admin.command({ shardCollection: `app.${name}`, key: { k: 1 } })
  const documents = Array.from({ length: count }, (_, i) => ({ _id: i, k: i, n: 0, padding }))
  await app.collection<(typeof documents)[number]>(name).insertMany(documents)
  await admin.command({ split: `app.${name}`, middle: { k: cut } })
}

/** Runs `work` on a direct connection to a shard. */
async function direct<T>(cluster: ShardedCluster, id: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = await MongoClient.connect(cluster.shards.find((shard) => shard.id === id)!.uri)
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

const codeOf = (work: Promise<unknown>): Promise<number | string | undefined> =>
  work.then(
    () => 'ok',
    (error: MongoServerError) => error.code,
  )

t.test('clients of two routers read and write without errors during migrations', async (t) => {
  const { cluster, client, admin, app, primary, other } = await start(t, { mongos: 2 })
  const count = 2000
  await shard(admin, app, 'c', count, count / 2)
  const stages: string[] = []
  cluster.on('migration', (event: MigrationEvent) => stages.push(event.stage))
  const collection = app.collection<Numbered>('c')
  let working = true
  let scans = 0
  const increments = new Map<number, number>()
  const read = async () => {
    while (working) {
      const found = await collection.find({ _id: { $lt: count } }, { projection: { _id: 1 }, batchSize: 400 }).toArray()
      t.equal(new Set(found.map(({ _id }) => _id)).size, count, 'every document')
      t.equal(found.length, count, 'each once')
      scans++
    }
  }
  const write = async (number: number) => {
    for (let i = 0; working; i++) {
      const k = (i * 37 + number) % count
      const { modifiedCount } = await collection.updateOne({ k, _id: k }, { $inc: { n: 1 } })
      t.equal(modifiedCount, 1)
      increments.set(k, (increments.get(k) ?? 0) + 1)
      const _id = count + i * 2 + number
      await collection.insertOne({ _id, k: (i * 13) % count, n: 0 })
      if (i % 3 === 0) t.equal((await collection.deleteOne({ _id, k: (i * 13) % count })).deletedCount, 1)
    }
  }
  const busy = [read(), read(), write(0), write(1)]
  await admin.command({ moveChunk: 'app.c', find: { k: count / 2 }, to: other })
  await admin.command({ moveRange: 'app.c', min: { k: 100 }, max: { k: 300 }, toShard: other })
  await admin.command({ moveChunk: 'app.c', find: { k: 0 }, to: other })
  working = false
  await Promise.all(busy)
  t.ok(scans > 0)
  t.same(stages, Array.from({ length: 3 }, () => ['started', 'cloned', 'critical-section', 'committed']).flat())
  for (const { _id, n } of await collection.find({ n: { $gt: 0 } }).toArray()) {
    t.equal(n, increments.get(_id), `${_id} was incremented so often`)
    increments.delete(_id)
  }
  t.equal(increments.size, 0)
  const owners = await client
    .db('config')
    .collection('chunks')
    .distinct('shard', { min: { $gte: { k: 0 } } })
  t.ok(owners.includes(other))
  const tasks = await direct(cluster, primary, (shard) =>
    shard.db('config').collection('rangeDeletions').find().toArray(),
  )
  t.equal(tasks.length, 3, 'the donor will delete the range')
  t.ok(tasks.every((task) => task['pending'] === undefined && task['whenToClean'] === 'delayed'))
})

t.test('a retried write runs once, whichever shard it reaches', async (t) => {
  const { cluster, admin, app, other } = await start(t)
  await shard(admin, app, 'c', 20, 10)
  const raw = await RawClient.connect(cluster.mongos[0]!)
  t.teardown(() => raw.close())
  const lsid = { id: new Binary(randomBytes(16), 4) }
  const update = {
    update: 'c',
    updates: [{ q: { k: 15 }, u: { $inc: { n: 1 } } }],
    lsid,
    txnNumber: Long.fromNumber(1),
    $db: 'app',
  }
  const modify = {
    findAndModify: 'c',
    query: { k: 16 },
    update: { $inc: { n: 1 } },
    new: true,
    lsid,
    txnNumber: Long.fromNumber(2),
    $db: 'app',
  }
  t.match(await raw.command(update), { n: 1, nModified: 1 })
  await admin.command({ moveChunk: 'app.c', find: { k: 15 }, to: other })
  t.match(await raw.command(update), { n: 1, nModified: 1 }, 'the recipient has the statement in its history')
  t.equal((await app.collection<Numbered>('c').findOne({ k: 15 }))!.n, 1)
  t.match(await raw.command(modify), { value: { n: 1 } })
  await admin.command({ moveRange: 'app.c', min: { k: 0 }, max: { k: 5 }, toShard: other })
  t.match(await raw.command(modify), { value: { n: 1 } })
  t.equal((await app.collection<Numbered>('c').findOne({ k: 16 }))!.n, 1)
})

t.test('after a migration the recipient and the catalog hold the range', async (t) => {
  const { cluster, admin, app, config, primary, other } = await start(t)
  await app.createCollection('c', { validator: { k: { $type: 'number' } } })
  await app.collection('c').createIndex({ n: 1 }, { name: 'by n' })
  await shard(admin, app, 'c', 100, 40)
  const { uuid } = (await config.collection<Document>('collections').findOne({ _id: 'app.c' as never }))!
  const reply = await admin
    .command({ moveChunk: 'app.c', bounds: [{ k: 40 }, { k: { $maxKey: 1 } }], to: other })
    .catch((error: MongoServerError) => error)
  t.equal((reply as MongoServerError).code, 656452, 'a document that says maxKey is not MaxKey')
  const moved = await admin.command({ moveChunk: 'app.c', find: { k: 40 }, to: other })
  t.type(moved['millis'], 'number')
  await direct(cluster, other, async (shard) => {
    const [info] = await shard.db('app').listCollections({ name: 'c' }).toArray()
    t.same((info as { info?: { uuid?: unknown } }).info?.uuid, uuid, 'the same UUID')
    t.same((info as { options?: Document }).options?.['validator'], { k: { $type: 'number' } })
    const names = (await shard.db('app').collection('c').indexes()).map(({ name }) => name)
    t.same(names.sort(), ['_id_', 'by n', 'k_1'])
    t.equal(await shard.db('app').collection('c').countDocuments(), 60)
    t.same(await shard.db('config').collection('rangeDeletions').find().toArray(), [])
  })
  const [task] = await direct(cluster, primary, (shard) =>
    shard.db('config').collection('rangeDeletions').find().toArray(),
  )
  t.match(task, {
    nss: 'app.c',
    donorShardId: primary,
    whenToClean: 'delayed',
    range: { min: { k: 40 } },
    keyPattern: { k: 1 },
  })
  t.equal(Number(task!['numOrphanDocs']), 60)
  const changes = await config
    .collection('changelog')
    .find({ what: /^moveChunk/ })
    .toArray()
  t.same(changes.map(({ what }) => what as string).sort(), [
    'moveChunk.commit',
    'moveChunk.from',
    'moveChunk.start',
    'moveChunk.to',
  ])
  const detailsOf = (what: string) => changes.find((change) => change['what'] === what)!['details'] as Document
  t.match(detailsOf('moveChunk.start'), { min: { k: 40 }, from: primary, to: other })
  t.match(detailsOf('moveChunk.commit'), { counts: { cloned: 60, catchup: 0, steady: 0 } })
  t.match(detailsOf('moveChunk.from'), { 'step 6 of 6': Number, note: 'success', from: primary, to: other })
  t.match(detailsOf('moveChunk.to'), { 'step 8 of 8': Number, note: 'success', from: primary, to: other })
  t.match(await admin.command({ moveChunk: 'app.c', find: { k: 40 }, to: other }), { ok: 1 }, 'it is there already')
  t.equal(
    await config.collection('changelog').countDocuments({ what: 'moveChunk.start' }),
    1,
    'no second migration ran',
  )
})

t.test(
  'D831 orphans stay for the cleanup delay, are invisible through routers, and are deleted afterwards',
  async (t) => {
    const { cluster, admin, app, primary, other } = await start(t)
    await shard(admin, app, 'c', 40, 20)
    const deleted = new Promise((resolve) => cluster.once('range-deleted', resolve))
    await admin.command({ moveChunk: 'app.c', find: { k: 20 }, to: other })
    t.equal(await direct(cluster, primary, (shard) => shard.db('app').collection('c').countDocuments()), 40)
    t.equal(await app.collection('c').countDocuments({}), 40)
    t.equal(await app.collection('c').countDocuments({ k: 25 }), 1)
    t.equal((await app.command({ count: 'c' }))['n'], 60, 'a count without a query counts them')
    t.equal((await app.collection('c').find({ k: 25 }, { readConcern: 'available' }).toArray()).length, 1)
    t.equal(await codeOf(admin.command({ moveChunk: 'app.c', find: { k: 20 }, to: 'shard99' })), 70)
    await direct(cluster, primary, (shard) => shard.db('admin').command({ setParameter: 1, orphanCleanupDelaySecs: 0 }))
    await shard(admin, app, 'd', 40, 20)
    await admin.command({ moveChunk: 'app.d', find: { k: 20 }, to: other, _waitForDelete: true })
    t.match(await deleted, { ns: 'app.d', shard: primary, documents: 20 })
    t.equal(await direct(cluster, primary, (shard) => shard.db('app').collection('d').countDocuments()), 20)
    t.match(await direct(cluster, primary, (shard) => shard.db('admin').command({ cleanupOrphaned: 'app.d' })), {
      ok: 1,
    })
    t.equal(await codeOf(admin.command({ cleanupOrphaned: 'app.d' })), 59, 'a router has no such command')
  },
)

t.test('ranges that are too big and migrations that are disabled are refused', async (t) => {
  const { admin, app, config, other } = await start(t)
  await config.collection('settings').updateOne({ _id: 'chunksize' as never }, { $set: { value: 1 } }, { upsert: true })
  await shard(admin, app, 'big', 60, 5, 'x'.repeat(50_000))
  const move = { moveChunk: 'app.big', find: { k: 30 }, to: other }
  t.equal(await codeOf(admin.command(move)), 153, 'twice the size of a chunk')
  t.equal(await codeOf(admin.command({ ...move, forceJumbo: true })), 'ok')
  t.match(
    await admin.command({ moveRange: 'app.big', min: { k: 5 }, toShard: other }),
    { ok: 1 },
    'the recipient already owns it',
  )

  await shard(admin, app, 'part', 60, 1, 'x'.repeat(50_000))
  t.match(await admin.command({ moveRange: 'app.part', min: { k: 1 }, toShard: other }), { ok: 1 })
  const bounds = await config.collection('chunks').find({ shard: other, 'min.k': 1 }).toArray()
  t.equal(bounds[0]!['max'].k, 20, 'as much as fits into a chunk')

  await shard(admin, app, 'c', 20, 10)
  await config.collection('collections').updateOne({ _id: 'app.c' as never }, { $set: { permitMigrations: false } })
  t.equal(
    await codeOf(admin.command({ moveChunk: 'app.c', find: { k: 10 }, to: other })),
    117,
    'migrations are forbidden',
  )
  await config.collection('collections').updateOne({ _id: 'app.c' as never }, { $unset: { permitMigrations: '' } })
  t.equal(await codeOf(admin.command({ moveChunk: 'app.c', find: { k: 10 }, to: other })), 'ok')
})

t.test('moveChunk and moveRange refuse wrong arguments', async (t) => {
  const cases: readonly [
    what: string,
    command: Document,
    codes: Readonly<Record<'4.4' | '7.0', number | string | undefined>>,
  ][] = [
    ['neither find nor bounds', { moveChunk: 'app.c', to: 'OTHER' }, { '4.4': undefined, '7.0': 72 }],
    [
      'both',
      { moveChunk: 'app.c', find: { k: 1 }, bounds: [{ k: 1 }, { k: 2 }], to: 'OTHER' },
      { '4.4': undefined, '7.0': 72 },
    ],
    ['no key in find', { moveChunk: 'app.c', find: { a: 1 }, to: 'OTHER' }, { '4.4': undefined, '7.0': 656450 }],
    [
      'bounds of another key',
      { moveChunk: 'app.c', bounds: [{ a: 1 }, { a: 2 }], to: 'OTHER' },
      { '4.4': undefined, '7.0': 656451 },
    ],
    [
      'bounds of no chunk',
      { moveChunk: 'app.c', bounds: [{ k: 1 }, { k: 2 }], to: 'OTHER' },
      { '4.4': undefined, '7.0': 656452 },
    ],
    ['one bound', { moveChunk: 'app.c', bounds: [{ k: 1 }], to: 'OTHER' }, { '4.4': 10065, '7.0': 72 }],
    ['no destination', { moveChunk: 'app.c', find: { k: 1 } }, { '4.4': 14, '7.0': 40414 }],
    ['a number as destination', { moveChunk: 'app.c', find: { k: 1 }, to: 1 }, { '4.4': 14, '7.0': 14 }],
    ['unknown shard', { moveChunk: 'app.c', find: { k: 1 }, to: 'nowhere' }, { '4.4': 70, '7.0': 70 }],
    ['not sharded', { moveChunk: 'app.plain', find: { k: 1 }, to: 'OTHER' }, { '4.4': 118, '7.0': 118 }],
    ['moveRange without min', { moveRange: 'app.c', toShard: 'OTHER' }, { '4.4': 59, '7.0': 72 }],
    [
      'moveRange over two chunks',
      { moveRange: 'app.c', min: { k: 1 }, max: { k: 15 }, toShard: 'OTHER' },
      { '4.4': 59, '7.0': 13388 },
    ],
    [
      'moveRange with another key',
      { moveRange: 'app.c', min: { a: 1 }, toShard: 'OTHER' },
      { '4.4': 59, '7.0': 13388 },
    ],
    [
      'moveRange of an unsharded collection',
      { moveRange: 'app.plain', min: { k: 1 }, toShard: 'OTHER' },
      { '4.4': 59, '7.0': 26 },
    ],
    ['moveRange to nowhere', { moveRange: 'app.c', min: { k: 1 }, toShard: 'nowhere' }, { '4.4': 59, '7.0': 70 }],
  ]
  for (const emulate of ['4.4', '7.0'] as const) {
    const { admin, app, config, other } = await start(t, { emulate })
    await shard(admin, app, 'c', 20, 10)
    await app.collection<Numbered>('plain').insertOne({ _id: 1, k: 1, n: 1 })
    const before = await config.collection('chunks').find().toArray()
    for (const [what, command, codes] of cases) {
      const filled = Object.fromEntries(
        Object.entries(command).map(([name, value]) => [name, value === 'OTHER' ? other : value]),
      )
      t.equal(await codeOf(admin.command(filled)), codes[emulate], `${emulate}: ${what}`)
    }
    t.same(await config.collection('chunks').find().toArray(), before, 'no metadata has changed')
  }
})
