/**
 * Shards join, drain and leave; zones and the status of collections: through the official driver.
 */
import type { EmulatedVersion } from '@shardlab/cluster'
import { MaxKey, MinKey, MongoClient, MongoServerError, type Db, type Document } from 'mongodb'
import t from 'tap'
import { connected, type Connected } from '../support/connected.js'
import { areSets } from '../support/members.js'

const inline = { runtime: 'inline', balancerRoundIntervalMs: 100_000 } as const

const connect = (emulate: EmulatedVersion, shards = 2, mongos = 1): Promise<Connected> =>
  connected({ ...inline, emulate, shards, mongos })

/** Code and message of the command's error; null: it succeeded. */
async function refusal(admin: Db, command: Document): Promise<{ code: unknown; message: string } | null> {
  try {
    await admin.command(command)
    return null
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error
    return { code: error.code, message: error.message }
  }
}

const own = ({ $clusterTime: _time, operationTime: _operationTime, ...reply }: Document) => reply

t.test(
  'a third shard joins, takes chunks, drains and leaves',
  { skip: areSets && 'about the address of the only member' },
  async (t) => {
    for (const emulate of ['4.4', '7.0', '8.0'] as const) {
      await using started = await connect(emulate, 2, 2)
      const { cluster, client, admin } = started
      await admin.command({ enableSharding: 'app', primaryShard: 'shard01' })
      await admin.command({ shardCollection: 'app.c', key: { k: 1 } })
      const rows = Array.from({ length: 100 }, (_, k) => ({ _id: k, k }))
      await client.db('app').collection<{ _id: number; k: number }>('c').insertMany(rows)
      await admin.command({ split: 'app.c', middle: { k: 50 } })
      const shard = await cluster.addShard()
      t.equal(shard.id, 'shard03')
      t.same(
        cluster.shards.map(({ id }) => id),
        ['shard01', 'shard02', 'shard03'],
      )
      t.match((await admin.command({ listShards: 1 }))['shards'], [
        {},
        {},
        { _id: 'shard03', host: /^shard03\/127\.0\.0\.1:\d+$/, state: 1 },
      ])
      await admin.command({ moveChunk: 'app.c', find: { k: 50 }, to: 'shard03' })
      const direct = await MongoClient.connect(shard.uri)
      t.equal(await direct.db('app').collection('c').countDocuments(), 50)
      await direct.close()
      for (const mongos of cluster.mongos) {
        const router = await MongoClient.connect(`mongodb://${mongos}/`)
        t.equal(
          await router
            .db('app')
            .collection('c')
            .countDocuments({ k: { $gte: 0 } }),
          100,
          mongos,
        )
        t.equal(
          (
            await router
              .db('app')
              .collection('c')
              .updateMany({}, { $inc: { n: 1 } })
          ).modifiedCount,
          emulate === '4.4' ? 150 : 100,
          'a broadcast reaches it, and in 4.4 the orphans that the donor still has',
        )
        await router.close()
      }
      t.match(own(await admin.command({ removeShard: 'shard03' })), {
        msg: 'draining started successfully',
        state: 'started',
        shard: 'shard03',
      })
      const ongoing = own(await admin.command({ removeShard: 'shard03' }))
      t.match(ongoing, { msg: 'draining ongoing', state: 'ongoing', remaining: { chunks: 1, dbs: 0 }, dbsToMove: [] })
      const toMove = emulate === '8.0' ? ['collectionsToMove'] : []
      t.same(Object.keys(ongoing['remaining']), ['chunks', ...toMove, 'dbs', 'jumboChunks'])
      t.equal('note' in ongoing, emulate !== '8.0')
      t.equal('collectionsToMove' in ongoing, emulate === '8.0')
      t.match(await admin.command({ balancerCollectionStatus: 'app.c' }), {
        balancerCompliant: false,
        firstComplianceViolation: 'draining',
      })
      await admin.command({ moveChunk: 'app.c', find: { k: 50 }, to: 'shard02' })
      t.same(own(await admin.command({ removeShard: 'shard03' })), {
        msg: 'removeshard completed successfully',
        state: 'completed',
        shard: 'shard03',
        ok: 1,
      })
      t.equal((await admin.command({ listShards: 1 }))['shards'].length, 2)
      t.equal(
        await client
          .db('app')
          .collection('c')
          .countDocuments({ k: { $gte: 0 } }),
        100,
      )
      const host = new URL(shard.uri).host
      t.match(await refusal(admin, { addShard: `shard03/${host}` }), {
        code: 96,
        message: /because a local database 'app' exists in another shard01$/,
      })
      const again = await MongoClient.connect(shard.uri)
      await again.db('app').dropDatabase()
      await again.close()
      t.match(await admin.command({ addShard: `shard03/${host}` }), { shardAdded: 'shard03' })
      t.equal((await admin.command({ listShards: 1 }))['shards'].length, 3)
    }
  },
)

t.test('a primary shard leaves: movePrimary, then moveChunk, then removeShard', async (t) => {
  await using started = await connect('7.0')
  const { client, admin } = started
  await admin.command({ enableSharding: 'app', primaryShard: 'shard02' })
  await client
    .db('app')
    .collection('plain')
    .insertMany([{ a: 1 }, { a: 2 }])
  await admin.command({ shardCollection: 'app.c', key: { k: 1 } })
  await client.db('app').collection('c').insertOne({ k: 1 })
  await admin.command({ removeShard: 'shard02' })
  t.match(await admin.command({ removeShard: 'shard02' }), {
    remaining: { chunks: 1, dbs: 1, jumboChunks: 0 },
    dbsToMove: ['app'],
  })
  await admin.command({ movePrimary: 'app', to: 'shard01' })
  t.match(await admin.command({ removeShard: 'shard02' }), { remaining: { chunks: 1, dbs: 0 }, dbsToMove: [] })
  await admin.command({ moveChunk: 'app.c', find: { k: 1 }, to: 'shard01' })
  t.match(await admin.command({ removeShard: 'shard02' }), { state: 'completed' })
  t.match(await refusal(admin, { removeShard: 'shard01' }), { code: 20 })
  t.equal(await client.db('app').collection('plain').countDocuments(), 2)
  t.equal(await client.db('app').collection('c').countDocuments(), 1)
})

t.test('balancerCollectionStatus reports zone violations and imbalance', async (t) => {
  for (const [emulate, imbalanced] of [
    ['4.4', true],
    ['6.0.2', true],
    ['6.0', false],
    ['8.0', false],
  ] as const) {
    await using started = await connect(emulate)
    const { client, admin } = started
    await admin.command({ enableSharding: 'app', primaryShard: 'shard01' })
    await admin.command({ shardCollection: 'app.c', key: { k: 1 } })
    const status = async () => own(await admin.command({ balancerCollectionStatus: 'app.c' }))
    const chunkSize = { '4.4': {}, '6.0.2': { chunkSize: 128 }, '6.0': { chunkSize: 128 }, '8.0': { chunkSize: 128 } }[
      emulate
    ]
    t.same(await status(), { ...chunkSize, balancerCompliant: true, ok: 1 }, emulate)
    await admin.command({ addShardToZone: 'shard02', zone: 'x' })
    await admin.command({ updateZoneKeyRange: 'app.c', min: { k: 100 }, max: { k: new MaxKey() }, zone: 'x' })
    t.match(await status(), { balancerCompliant: false, firstComplianceViolation: 'zoneViolation' }, 'a split is due')
    await admin.command({ split: 'app.c', middle: { k: 100 } })
    t.match(await status(), { firstComplianceViolation: 'zoneViolation' }, 'and a move')
    await admin.command({ moveChunk: 'app.c', find: { k: 100 }, to: 'shard02' })
    t.match(await status(), { balancerCompliant: true })
    await admin.command({ updateZoneKeyRange: 'app.c', min: { k: 100 }, max: { k: new MaxKey() }, zone: null })
    for (const k of [10, 20, 30, 40]) await admin.command({ split: 'app.c', middle: { k } })
    t.match(
      await status(),
      imbalanced ? { firstComplianceViolation: 'chunksImbalance' } : { balancerCompliant: true },
      `${emulate}: five chunks and one`,
    )
    if (imbalanced) continue
    await admin.command({ configureCollectionBalancing: 'app.c', chunkSize: 1 })
    const text = 'x'.repeat(100_000)
    await client
      .db('app')
      .collection('c')
      .insertMany(Array.from({ length: 35 }, (_, k) => ({ k, text })))
    t.match(
      await status(),
      { chunkSize: 1, firstComplianceViolation: 'chunksImbalance' },
      'three chunks of data on one side',
    )
    await client
      .db('app')
      .collection('c')
      .insertMany(Array.from({ length: 10 }, () => ({ k: 200, text })))
    t.match(await status(), { chunkSize: 1, balancerCompliant: true }, 'less than three')
  }
})

t.test('removeShard counts jumbo chunks since 4.0', async (t) => {
  for (const [emulate, counts] of [
    ['2.6', ['chunks', 'dbs']],
    ['4.0', ['chunks', 'dbs', 'jumboChunks']],
  ] as const) {
    await using started = await connect(emulate)
    const { admin } = started
    await admin.command({ enableSharding: 'app', ...(emulate === '2.6' ? {} : { primaryShard: 'shard02' }) })
    await admin.command({ shardCollection: 'app.c', key: { k: 1 } })
    const chunk = await started.client.db('config').collection('chunks').findOne({ ns: 'app.c' })
    await admin.command({ removeShard: chunk?.['shard'] })
    t.same(Object.keys((await admin.command({ removeShard: chunk?.['shard'] }))['remaining']), counts, emulate)
  }
})

t.test('each version has its own member commands', async (t) => {
  for (const [emulate, missing] of [
    [
      '2.6',
      [
        'addShardToZone',
        'balancerStart',
        'balancerCollectionStatus',
        'configureCollectionBalancing',
        'setAllowMigrations',
        'setFeatureCompatibilityVersion',
      ],
    ],
    ['4.0', ['balancerCollectionStatus', 'configureCollectionBalancing', 'setAllowMigrations']],
    ['4.4', ['configureCollectionBalancing']],
    ['5.0', ['configureCollectionBalancing']],
    ['6.0.2', []],
    ['8.0', []],
  ] as const) {
    await using started = await connect(emulate, 1)
    const commands = [
      'addShard',
      'removeShard',
      'movePrimary',
      'addShardToZone',
      'removeShardFromZone',
      'updateZoneKeyRange',
      'balancerStart',
      'balancerStop',
      'balancerStatus',
      'balancerCollectionStatus',
      'configureCollectionBalancing',
      'setAllowMigrations',
      'setFeatureCompatibilityVersion',
    ]
    const absent: string[] = []
    for (const command of commands)
      if ((await refusal(started.admin, { [command]: {} }))?.code === 59) absent.push(command)
    const families = new Set<string>(missing)
    const expected = commands.filter(
      (command) =>
        families.has(command) ||
        (families.has('addShardToZone') && /Zone/.test(command)) ||
        (families.has('balancerStart') && /^balancer(?:Stop|Status)$/.test(command)),
    )
    t.same(absent, expected, emulate)
  }
})

t.test('zone commands check their arguments', async (t) => {
  for (const emulate of ['4.0', '8.0'] as const) {
    await using started = await connect(emulate, 1)
    const { admin, client } = started
    await admin.command({ addShardToZone: 'shard01', zone: 'x' })
    t.match(await refusal(admin, { addShardToZone: 'shard01' }), { code: 4 }, emulate)
    const wrongType = { code: 14, message: /^"zone" had the wrong type\. Expected string, found int$/ }
    t.match(await refusal(admin, { addShardToZone: 'shard01', zone: 1 }), wrongType)
    t.equal(await refusal(admin, { addShardToZone: 'shard01', zone: 'x', more: 1 }), null)
    const range = { min: { k: 0 }, max: { k: 1 }, zone: 'x' }
    t.match(await refusal(admin, { updateZoneKeyRange: 'noDot', ...range }), { code: 73 })
    t.match(await refusal(admin, { updateZoneKeyRange: 'app.c', min: { k: 0 }, max: { k: 1 } }), { code: 4 })
    t.match(await refusal(admin, { updateZoneKeyRange: 'app.c', ...range, max: {} }), { code: 2 })
    t.match(await refusal(admin, { updateZoneKeyRange: 'app.c', ...range, max: { k: new MinKey() } }), { code: 9 })
    t.match(await refusal(client.db('app'), { updateZoneKeyRange: 'app.c', ...range }), { code: 13 })
    t.equal(await client.db('config').collection('tags').countDocuments(), 0)
    t.match(await admin.command({ updateZoneKeyRange: 'app.c', ...range }), { ok: 1 })
    t.match(await admin.command({ updateZoneKeyRange: 'app.c', ...range, zone: null }), { ok: 1 })
  }
})

t.test('D842: the feature compatibility version is the same on all members', async (t) => {
  await using started = await connect('7.0')
  const { cluster, admin } = started
  const told = async () => {
    const versions: unknown[] = []
    for (const { uri } of cluster.shards) {
      const direct = await MongoClient.connect(uri)
      versions.push(
        (await direct.db('admin').command({ getParameter: 1, featureCompatibilityVersion: 1 }))[
          'featureCompatibilityVersion'
        ],
      )
      await direct.close()
    }
    return versions
  }
  t.same(await told(), [{ version: '7.0' }, { version: '7.0' }])
  t.match(await refusal(admin, { setFeatureCompatibilityVersion: '6.0' }), { code: 7_369_100 })
  t.match(await refusal(admin, { setFeatureCompatibilityVersion: '6.0', confirm: false }), { code: 7_369_100 })
  t.match(await admin.command({ setFeatureCompatibilityVersion: '6.0', confirm: true }), { ok: 1 })
  t.same(await told(), [{ version: '6.0' }, { version: '6.0' }])
  await cluster.addShard()
  t.same(await told(), [{ version: '6.0' }, { version: '6.0' }, { version: '6.0' }], 'also on a shard that joins')
  t.match(
    await refusal(admin, { getParameter: 1, featureCompatibilityVersion: 1 }),
    { code: 72 },
    'a router does not have it',
  )
  await using older = await connect('6.0', 1)
  t.match(
    await older.admin.command({ setFeatureCompatibilityVersion: '5.0' }),
    { ok: 1 },
    'older versions ask for no confirmation',
  )
})
