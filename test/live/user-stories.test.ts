/** Long, ordinary workflows of applications and administrators, through the official driver. */
import { Binary, Long } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import { randomBytes } from 'node:crypto'
import { MaxKey, MinKey, MongoClient, type Document, type MongoServerError } from 'mongodb'
import t, { type Test } from 'tap'
import { TestClusters, type Loose, type TestCluster } from '../support/clusters.js'
import { RawClient } from '../support/raw-client.js'
import { areSets } from '../support/members.js'

const clusters = new TestClusters({ mongos: 2 })
t.teardown(() => clusters.stop())

/** `ok` when the promise resolves; otherwise the code and message of the error. */
const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: MongoServerError) => `${error.code} ${error.message}`,
  )

/**
 * Sends a write in a session that the driver does not manage, so that a transaction number can be
 * repeated.
 */
async function retryable(
  t: Test,
  { cluster }: TestCluster,
  { dbName }: Loose,
): Promise<(txnNumber: number, command: Document) => Promise<Document>> {
  const raw = await RawClient.connect(cluster.mongos[0]!)
  t.teardown(() => raw.close())
  const lsid = { id: new Binary(randomBytes(16), Binary.SUBTYPE_UUID) }
  return (txnNumber, command) => raw.command({ ...command, lsid, txnNumber: Long.fromNumber(txnNumber), $db: dbName })
}

const numbered = (count: number, fields: (i: number) => Document): Document[] =>
  Array.from({ length: count }, (_, i) => ({ _id: i, ...fields(i) }))

for (const version of ['4.4', '8.0'] satisfies EmulatedVersion[])
  t.test(`zones that exist before their collection keep data in its region, under ${version}`, async (t) => {
    const world = await clusters.at(version)
    const [eu, us, both] = world.shardIds as [string, string, string]
    const db = await world.database(both)
    const users: Loose = db.collection('users')
    const range = (country: string, zone: string | null) =>
      world.admin({
        updateZoneKeyRange: users.namespace,
        min: { country, user: new MinKey() },
        max: { country, user: new MaxKey() },
        zone,
      })
    for (const [shard, zone] of [
      [eu, 'EU'],
      [both, 'EU'],
      [us, 'US'],
    ])
      await world.admin({ addShardToZone: shard, zone })
    await range('DE', 'EU')
    await range('US', 'US')
    t.match(
      await outcome(world.admin({ shardCollection: users.namespace, key: { user: 1 } })),
      /^72 the proposed shard key/,
    )
    await world.admin({ shardCollection: users.namespace, key: { country: 1, user: 1 } })
    await users.insertMany(
      ['DE', 'US', 'FR'].flatMap((country) => [1, 2, 3].map((user) => ({ _id: `${country}${user}`, country, user }))),
    )
    const placed = await world.placed(users)
    t.same(
      placed[us]?.filter((id) => String(id).startsWith('US')),
      ['US1', 'US2', 'US3'],
    )
    t.same(
      [...(placed[eu] ?? []), ...(placed[both] ?? [])].filter((id) => String(id).startsWith('DE')),
      ['DE1', 'DE2', 'DE3'],
    )
    t.same(await world.targets(users, { country: 'US', user: { $lt: 3 } }), [us])

    t.match(await outcome(world.admin({ removeShardFromZone: us, zone: 'US' })), /^163 /)
    await world.admin({ removeShardFromZone: both, zone: 'EU' })
    await range('US', null)
    t.equal(await outcome(world.admin({ removeShardFromZone: us, zone: 'US' })), 'ok')
    await range('DE', null)
    await world.admin({ removeShardFromZone: eu, zone: 'EU' })
    t.equal(await world.config.collection('tags').countDocuments({ ns: users.namespace }), 0)
  })

for (const version of ['2.6', '8.0'] satisfies EmulatedVersion[])
  t.test(`a proxy collection makes an e-mail address unique in the cluster, under ${version}`, async (t) => {
    const world = await clusters.at(version)
    const db = await world.database()
    const proxy: Loose = db.collection('proxy')
    const information: Loose = db.collection('information')
    await world.admin({ shardCollection: proxy.namespace, key: { email: 1 }, unique: true })
    await world.admin({ shardCollection: information.namespace, key: { _id: 'hashed' } })
    await world.admin({ split: proxy.namespace, middle: { email: 'm' } })
    await world.admin({ moveChunk: proxy.namespace, find: { email: 'z' }, to: world.shardIds[1] })
    t.match(
      await outcome(information.createIndex({ email: 1 }, { unique: true })),
      /^67 cannot create .*unique.* over \{ email: 1 \} with shard key pattern/,
    )
    const register = async (_id: number, email: string) => {
      await proxy.insertOne({ _id, email })
      await information.insertOne({ _id, email, name: `user ${_id}` })
    }
    await register(1, 'ann@example.net')
    await register(2, 'zoe@example.net')
    t.match(
      await outcome(register(3, 'zoe@example.net')),
      /^11000 E11000 duplicate key error collection: db\d+\.proxy index: email_1 dup key/,
    )
    t.equal(await information.countDocuments(), 2, 'a taken address is not registered')
    t.equal(await proxy.countDocuments({ email: /@example/ }), 2)
  })

for (const version of ['4.4', '8.0'] satisfies EmulatedVersion[])
  t.test(`a stale router finds a collection that was recreated with another shard key, under ${version}`, async (t) => {
    const world = await clusters.at(version)
    const db = await world.database()
    const other = await MongoClient.connect(`mongodb://${world.cluster.mongos[1]}/?directConnection=true`)
    t.teardown(() => other.close())
    const first = await MongoClient.connect(`mongodb://${world.cluster.mongos[0]}/?directConnection=true`)
    t.teardown(() => first.close())
    const here: Loose = first.db(db.databaseName).collection('c')
    const there: Loose = other.db(db.databaseName).collection('c')
    const admin = first.db('admin')
    const make = async (field: string) => {
      await admin.command({ shardCollection: here.namespace, key: { [field]: 1 } })
      await admin.command({ split: here.namespace, middle: { [field]: 20 } })
      await admin.command({
        moveChunk: here.namespace,
        find: { [field]: 20 },
        to: world.shardIds[field === 'x' ? 1 : 2],
      })
      await here.insertMany(numbered(40, (i) => ({ x: i, y: 39 - i })))
    }
    await make('x')
    t.equal(await there.countDocuments(), 40)
    await here.drop()
    await make('y')
    t.match(await there.find({ x: 30 }).toArray(), [{ _id: 30, y: 9 }])
    t.match(await there.updateMany({ x: { $gte: 10 } }, { $set: { seen: true } }), { matchedCount: 30 })
    await there.insertOne({ _id: 100, y: 25 })
    t.ok((await world.placed(here))[world.shardIds[2]!]?.includes(100), 'where the new key has it')
    t.equal(await there.drop(), true)
    await here.insertOne({ _id: 1 })
    t.same(await there.find().toArray(), [{ _id: 1 }])
    await first.db(db.databaseName).dropDatabase()
    t.same(await there.find().toArray(), [])
  })

for (const version of ['4.4', '7.0'] satisfies EmulatedVersion[])
  t.test(`retryable writes run once, also when their documents have moved, under ${version}`, async (t) => {
    const world = await clusters.at(version)
    const c = await world.spread('c', { x: 1 }, [{ x: 50 }], world.shardIds.slice(0, 2))
    const run = await retryable(t, world, c)
    await run(1, {
      insert: 'c',
      documents: [
        { _id: 1, x: 10 },
        { _id: 2, x: 60 },
      ],
    })
    const statements = [
      { q: { x: 10 }, u: { $inc: { n: 1 } } },
      { q: { x: 60 }, u: { $inc: { n: 1 } } },
      { q: { x: 10 }, u: { $inc: { n: 1 } } },
    ]
    t.match(await run(2, { update: 'c', updates: statements }), { n: 3, nModified: 3 })
    await world.admin({ moveChunk: c.namespace, find: { x: 60 }, to: world.shardIds[2], _waitForDelete: true })
    t.match(await run(2, { update: 'c', updates: statements }), { n: 3, nModified: 3, retriedStmtIds: [0, 1, 2] })
    const modify = { findAndModify: 'c', query: { x: 60 }, update: { $inc: { n: 1 } }, new: true }
    t.match((await run(3, modify))['value'], { _id: 2, n: 2 })
    await world.admin({ moveChunk: c.namespace, find: { x: 60 }, to: world.shardIds[1], _waitForDelete: true })
    t.match((await run(3, modify))['value'], { _id: 2, n: 2 }, 'the answer of the first time')
    const late = await run(2, { update: 'c', updates: statements })
    t.match(late['writeErrors'][0], { code: 225 }, 'an older number comes too late')
    t.match(await c.find().sort({ _id: 1 }).toArray(), [
      { _id: 1, n: 2 },
      { _id: 2, n: 2 },
    ])
  })

for (const version of ['4.4', '8.0'] satisfies EmulatedVersion[])
  t.test(`maxTimeMS and killOp end a wait for orphans, under ${version}`, async (t) => {
    const world = await clusters.at(version)
    const [donor] = world.shardIds as [string]
    const c = await world.spread('c', { x: 1 }, [])
    await c.insertMany(numbered(10, (i) => ({ x: i })))
    await world.admin({ split: c.namespace, middle: { x: 5 } })
    await world.admin({ moveChunk: c.namespace, find: { x: 5 }, to: world.shardIds[1] })
    const admin = (await world.shard(donor)).db('admin')
    t.equal(
      await (await world.shard(donor)).db(c.dbName).collection('c').countDocuments(),
      10,
      'orphans, for a quarter of an hour',
    )
    t.equal(await c.countDocuments(), 10)
    t.equal(
      await outcome(admin.command({ cleanupOrphaned: c.namespace, maxTimeMS: 10 })),
      '50 operation exceeded time limit',
    )
    const waiting = outcome(admin.command({ cleanupOrphaned: c.namespace, comment: 'patient' }))
    const filter = { 'command.cleanupOrphaned': c.namespace, 'command.comment': 'patient' }
    let operation: Document | undefined
    while (operation === undefined)
      [operation] = await admin.aggregate([{ $currentOp: {} }, { $match: filter }]).toArray()
    await admin.command({ killOp: 1, op: operation['opid'] })
    t.equal(await waiting, '11601 operation was interrupted')
  })

t.test(
  'a shard can be emptied by hand, removed and added again',
  { skip: areSets && 'about the address of the only member' },
  async (t) => {
    const world = await clusters.at('7.0')
    const [stays, goes] = world.shardIds as [string, string]
    const db = await world.database(goes)
    const c: Loose = db.collection('c')
    await world.admin({ shardCollection: c.namespace, key: { x: 1 } })
    await c.insertMany(numbered(20, (i) => ({ x: i })))
    await db.collection('plain').insertOne({ a: 1 })
    t.match(await world.admin({ removeShard: goes }), { state: 'started', dbsToMove: [db.databaseName] })
    t.match(await world.admin({ removeShard: goes }), {
      state: 'ongoing',
      remaining: { chunks: Number, dbs: 1, jumboChunks: 0 },
    })
    for (const { uuid, min, max } of await world.config.collection('chunks').find({ shard: goes }).toArray()) {
      const { _id } = (await world.config.collection<Document>('collections').findOne({ uuid }))!
      await world.admin({ moveChunk: _id, bounds: [min, max], to: stays, _waitForDelete: true })
    }
    await world.admin({ movePrimary: db.databaseName, to: stays })
    t.match(await world.admin({ removeShard: goes }), { state: 'completed', shard: goes })
    t.match(await outcome(world.admin({ removeShard: goes })), /^70 /)
    t.same([await c.countDocuments(), await db.collection('plain').countDocuments()], [20, 1])

    const gone = await world.shard(goes)
    const { host } = new URL(world.cluster.shards.find(({ id }) => id === goes)!.uri)
    const back = { addShard: `${goes}/${host}` }
    t.match(await outcome(world.admin(back)), /^96 can't add shard .* because a local database '.*' exists in another/)
    for (const { name } of (await gone.db('admin').admin().listDatabases()).databases)
      if (!['admin', 'config', 'local'].includes(name)) await gone.db(name).dropDatabase()
    t.match(await world.admin(back), { shardAdded: goes })
    t.match(await world.admin(back), { shardAdded: goes }, 'it is there already')
    await world.admin({ moveChunk: c.namespace, find: { x: 3 }, to: goes })
    t.equal(await c.countDocuments(), 20)
  },
)

t.test('D895 old versions report a duplicate key with its field name', async (t) => {
  const world = await clusters.at('2.6')
  const c = (await world.database()).collection<{ _id: number }>('c')
  await c.insertOne({ _id: 1 })
  t.equal(
    await outcome(c.insertOne({ _id: 1 })),
    `11000 E11000 duplicate key error collection: ${c.namespace} index: _id_ dup key: { _id: 1 }`,
  )
})

t.test('D896 old versions report retried statements', async (t) => {
  const world = await clusters.at('4.4')
  const c: Loose = (await world.database()).collection('c')
  const run = await retryable(t, world, c)
  const insert = { insert: 'c', documents: [{ _id: 1 }] }
  t.notOk('retriedStmtIds' in (await run(1, insert)))
  t.same((await run(1, insert))['retriedStmtIds'], [0])
})
