/**
 * Unsharded collections away from their database's primary shard: moveCollection and
 * unshardCollection, through the official driver.
 */
import t, { type Test } from 'tap'
import { MaxKey, MinKey } from '@shardlab/bson'
import { MongoClient, type CollectionInfo, type Db, type Document } from 'mongodb'
import { TestCluster, type Loose } from '../support/clusters.js'
import { codeOf } from './support/resharding-world.js'

let world: TestCluster
t.before(async () => void (world = await TestCluster.start('8.0')))
t.teardown(() => world.stop())

const entryOf = (ns: string): Promise<Document | null> =>
  world.config.collection<{ _id: string }>('collections').findOne({ _id: ns })
const chunksOf = async (ns: string): Promise<Document[]> => {
  const { uuid } = (await entryOf(ns))!
  return world.config.collection('chunks').find({ uuid }).toArray()
}
const countOn = async (shard: string, db: Db, name: string): Promise<number> =>
  (await world.shard(shard)).db(db.databaseName).collection(name).countDocuments()
async function directConfig(): Promise<MongoClient> {
  const { endpoint } = world.cluster.members().find(({ role }) => role === 'config-server')!
  const client = await MongoClient.connect(`mongodb://${endpoint}/?directConnection=true`)
  t.teardown(() => client.close())
  return client
}
const loose = (db: Db, name: string): Loose => db.collection<any>(name)

/**
 * A database whose primary shard is the first one, and a collection of ten documents on another
 * shard.
 */
async function moved(name = 'c'): Promise<{ db: Db; ns: string; collection: Loose; home: string; primary: string }> {
  const db = await world.database()
  const [primary, home] = world.shardIds as [string, string]
  const collection = loose(db, name)
  await collection.insertMany(Array.from({ length: 10 }, (_, i) => ({ _id: i, x: i })))
  await world.admin({ moveCollection: collection.namespace, toShard: home })
  return { db, ns: collection.namespace, collection, home, primary }
}

t.test('a collection on another shard works as before', async (t) => {
  const { db, ns, collection, home, primary } = await moved()
  const entry = (await entryOf(ns))!
  t.same(entry['key'], { _id: 1 })
  t.equal(entry['unsplittable'], true)
  t.notOk('reshardingFields' in entry)
  const chunks = await chunksOf(ns)
  t.same(
    chunks.map(({ min, max, shard }) => ({ min, max, shard })),
    [{ min: { _id: new MinKey() }, max: { _id: new MaxKey() }, shard: home }],
  )
  t.equal(await countOn(home, db, 'c'), 10)
  t.equal(await countOn(primary, db, 'c'), 0)
  t.same(
    (await db.listCollections().toArray()).map(({ name }) => name),
    ['c'],
  )
  t.equal((await collection.find().toArray()).length, 10)
  t.equal((await collection.updateOne({ x: 3 }, { $set: { y: 1 } })).modifiedCount, 1)
  t.equal((await collection.updateMany({}, { $inc: { n: 1 } })).modifiedCount, 10)
  t.equal((await collection.updateOne({ x: 99 }, { $set: { y: 2 } }, { upsert: true })).upsertedCount, 1)
  t.equal((await collection.findOneAndDelete({ x: 99 }))?.['y'], 2)
  t.same(await collection.distinct('n'), [1])
  t.equal((await collection.deleteOne({ x: 9 })).deletedCount, 1)
  t.same(await collection.aggregate([{ $group: { _id: null, sum: { $sum: '$x' } } }]).toArray(), [
    { _id: null, sum: 36 },
  ])
  await collection.createIndex({ x: 1 }, { unique: true })
  t.equal(await codeOf(collection.insertOne({ x: 1 })), 11000, 'an index may be unique on anything')
  t.same((await collection.indexes()).map(({ name }) => name).sort(), ['_id_', 'x_1'])
  const stats = await db.command({ collStats: 'c' })
  t.equal(stats['sharded'], false)
  t.equal(stats['primary'], primary)
  t.same(Object.keys(stats['shards']), [home])
  const explained = await collection.find({ x: 1 }).explain('queryPlanner')
  t.equal(explained['queryPlanner'].winningPlan.stage, 'SINGLE_SHARD')
  t.equal(explained['queryPlanner'].winningPlan.shards[0].shardName, home)
  t.notMatch(JSON.stringify(explained), /SHARDING_FILTER/)
  const tracked = await world.client
    .db('admin')
    .aggregate([{ $listClusterCatalog: { tracked: true, shards: true } }])
    .toArray()
  t.match(
    tracked.find((each) => each['ns'] === ns),
    { sharded: false, tracked: true, shards: [home] },
  )
})

t.test('after a move the catalog is consistent', async (t) => {
  const { db, ns } = await moved()
  await loose(db, 'c').createIndex({ x: 1 })
  const cursor = (await db.command({ checkMetadataConsistency: 1 }))['cursor']
  t.same(cursor.firstBatch, [])
  t.equal(await codeOf(world.admin({ setAllowMigrations: ns, allowMigrations: false })), 118)
})

t.test('joins and outputs work with a moved collection', async (t) => {
  const { db, collection } = await moved()
  await loose(db, 'names').insertMany([
    { _id: 1, name: 'one' },
    { _id: 2, name: 'two' },
  ])
  const there = [
    { $match: { x: { $in: [1, 2] } } },
    { $lookup: { from: 'names', localField: 'x', foreignField: '_id', as: 'n' } },
    { $sort: { _id: 1 } },
  ]
  t.same(
    (await collection.aggregate(there).toArray()).map(({ n }) => n[0].name),
    ['one', 'two'],
  )
  const here = [{ $lookup: { from: 'c', localField: '_id', foreignField: 'x', as: 'c' } }, { $sort: { _id: 1 } }]
  t.same(
    (await loose(db, 'names').aggregate(here).toArray()).map(({ c }) => c.length),
    [1, 1],
  )
  await loose(db, 'names')
    .aggregate([{ $merge: { into: 'c' } }])
    .toArray()
  t.equal((await collection.findOne({ _id: 2 }))!['name'], 'two')
  await db.createCollection('v', { viewOn: 'c', pipeline: [{ $match: { x: { $lt: 5 } } }] })
  t.equal(await db.collection('v').countDocuments(), 5)
  await loose(db, 'names')
    .aggregate([{ $out: 'c' }])
    .toArray()
  t.equal(await collection.countDocuments(), 2)
  t.equal(await entryOf(`${db.databaseName}.c`), null, 'the replacement is an ordinary unsharded collection')
})

t.test('a collection can be moved back, and twice to one shard', async (t) => {
  const { db, ns, home, primary } = await moved()
  const before = (await entryOf(ns))!
  await world.admin({ moveCollection: ns, toShard: home })
  t.same((await entryOf(ns))!['uuid'], before['uuid'], 'the collection is already there')
  await world.admin({ moveCollection: ns, toShard: primary })
  t.equal((await entryOf(ns))!['unsplittable'], true)
  t.equal(await countOn(primary, db, 'c'), 10)
  t.equal(await countOn(home, db, 'c'), 0)
})

t.test('collections with a collation and with any unique indexes can be moved', async (t) => {
  const db = await world.database()
  const [, second, third] = world.shardIds as [string, string, string]
  await db.createCollection('c', { collation: { locale: 'en', strength: 2 } })
  const collection = loose(db, 'c')
  await collection.createIndex({ x: 1, y: 1 }, { unique: true })
  await collection.insertMany([
    { _id: 'A', x: 1, y: 'b' },
    { _id: 'b', x: 2, y: 'b' },
  ])
  const indexes = await collection.indexes()
  for (const command of [
    { moveCollection: collection.namespace, toShard: third },
    { moveCollection: collection.namespace, toShard: second },
  ]) {
    await world.admin(command)
    t.equal(await countOn(command.toShard, db, 'c'), 2)
    t.same(await collection.indexes(), indexes)
    t.same(
      (await collection.find({ y: 'B' }).sort({ _id: 1 }).toArray()).map(({ _id }) => _id),
      ['A', 'b'],
    )
    t.equal(await codeOf(collection.insertOne({ x: 1, y: 'B' })), 11000)
    t.equal(await codeOf(collection.insertOne({ _id: 'a' })), 11000)
  }
  await world.admin({ shardCollection: `${db.databaseName}.k`, key: { k: 1 } })
  const keyed = loose(db, 'k')
  await keyed.createIndex({ k: 1, u: 1 }, { unique: true })
  await keyed.insertOne({ k: 1, u: 1 })
  await world.admin({ unshardCollection: keyed.namespace, toShard: third })
  t.equal(await codeOf(keyed.insertOne({ k: 1, u: 1 })), 11000)
})

t.test('moveCollection and unshardCollection refuse wrong input, D850', async (t) => {
  const { ns, db, home } = await moved()
  const first = world.shardIds[0]!
  const refusal = async (command: Document): Promise<[unknown, string]> => {
    try {
      await world.admin(command)
      return ['ok', '']
    } catch (error) {
      return [(error as { code: number }).code, (error as Error).message]
    }
  }
  t.same(await refusal({ moveCollection: ns }), [
    40414,
    "BSON field 'moveCollection.toShard' is missing but a required field",
  ])
  t.same(await refusal({ moveCollection: `${db.databaseName}.none`, toShard: home }), [
    26,
    `Namespace ${db.databaseName}.none not found`,
  ])
  t.equal((await refusal({ moveCollection: 'nowhere.c', toShard: home }))[0], 26)
  t.same(await refusal({ moveCollection: ns, toShard: 'shard99' }), [70, 'Shard shard99 not found'])
  await world.admin({ shardCollection: `${db.databaseName}.s`, key: { k: 1 } })
  t.same(await refusal({ moveCollection: `${db.databaseName}.s`, toShard: home }), [
    26,
    'MoveCollection can only be called on an unsharded collection.',
  ])
  await db.createCollection('v', { viewOn: 's', pipeline: [] })
  t.equal((await refusal({ moveCollection: `${db.databaseName}.v`, toShard: home }))[0], 26)
  const forced = { key: { _id: 1 }, forceRedistribution: true, shardDistribution: [{ shard: first }] }
  t.same(await refusal({ reshardCollection: ns, ...forced }), [118, 'Collection has to be a sharded collection.'])
  t.equal((await refusal({ refineCollectionShardKey: ns, key: { _id: 1, x: 1 } }))[0], 118)
  t.equal((await refusal({ split: ns, middle: { _id: 5 } }))[0], 118)
  t.equal((await refusal({ moveChunk: ns, find: { _id: 5 }, to: first }))[0], 118)
  t.equal((await refusal({ moveRange: ns, min: { _id: 5 }, toShard: first }))[0], 118)
  t.equal((await refusal({ unshardCollection: ns, toShard: first }))[0], 118)
  t.equal(
    (await refusal({ unshardCollection: ns, toShard: home }))[0],
    'ok',
    'the collection is already unsharded there',
  )
  t.equal((await refusal({ unshardCollection: `${db.databaseName}.none` }))[0], 26)
  t.equal((await refusal({ abortMoveCollection: ns }))[0], 339)
  t.equal(await codeOf(db.command({ convertToCapped: 'c', size: 10_000 })), 20, 'D850')
})

t.test('unsharding moves a collection to one shard and deletes its zones', async (t) => {
  const db = await world.database()
  const ns = `${db.databaseName}.c`
  const [first, second, third] = world.shardIds as [string, string, string]
  await world.admin({ shardCollection: ns, key: { k: 1 } })
  await world.admin({ split: ns, middle: { k: 50 } })
  await world.admin({ moveChunk: ns, find: { k: 50 }, to: second })
  await world.admin({ addShardToZone: second, zone: 'z' })
  await world.admin({ updateZoneKeyRange: ns, min: { k: 50 }, max: { k: new MaxKey() }, zone: 'z' })
  await loose(db, 'c').insertMany(Array.from({ length: 100 }, (_, k) => ({ k })))
  await world.admin({ unshardCollection: ns, toShard: third })
  t.equal(await countOn(third, db, 'c'), 100)
  t.equal((await entryOf(ns))!['unsplittable'], true)
  t.equal(await world.config.collection('tags').countDocuments({ ns }), 0)
  t.equal(await loose(db, 'c').countDocuments({ k: { $gte: 50 } }), 50)
  await world.admin({ shardCollection: ns, key: { k: 'hashed' } }).then(
    () => t.fail('a collection with documents needs an index'),
    (error: Error) => t.match(error.message, /Please create an index that starts with the proposed shard key/),
  )
  await loose(db, 'c').createIndex({ k: 1 })
  await world.admin({ shardCollection: ns, key: { k: 1 } })
  const entry = (await entryOf(ns))!
  t.same(entry['key'], { k: 1 })
  t.notOk('unsplittable' in entry)
  t.same(
    (await chunksOf(ns)).map(({ shard }) => shard),
    [third],
    'documents stay where they are',
  )
  await world.admin({ moveRange: ns, min: { k: 10 }, max: { k: 20 }, toShard: first })
  t.equal(await loose(db, 'c').countDocuments({ k: { $lt: 30 } }), 30)
  await loose(db, 'other').insertOne({ x: 'x'.repeat(100_000) })
  await world.admin({ unshardCollection: ns })
  t.not((await chunksOf(ns))[0]!['shard'], first, 'without a choice it goes where the least is')
  t.equal(await loose(db, 'c').countDocuments(), 100)
  await world.admin({ removeShardFromZone: second, zone: 'z' })
})

t.test('a moved collection can be renamed within its database and dropped, D851', async (t) => {
  const { db, ns, collection, home, primary } = await moved()
  const third = world.shardIds[2]!
  const to = `${db.databaseName}.d`
  await world.admin({ renameCollection: ns, to })
  t.equal(await entryOf(ns), null)
  t.equal((await entryOf(to))!['unsplittable'], true)
  t.equal(await countOn(home, db, 'd'), 10)
  t.equal(await loose(db, 'd').countDocuments({ x: { $gte: 0 } }), 10)
  t.equal(await collection.countDocuments(), 0)
  await collection.insertOne({ _id: 1 })
  const elsewhere = await world.database()
  t.equal(await codeOf(world.admin({ renameCollection: to, to: `${elsewhere.databaseName}.d` })), 125, 'D851')
  await world.admin({ movePrimary: db.databaseName, to: third })
  t.equal(await countOn(home, db, 'd'), 10, 'it is not the primary shard that has it')
  t.equal(await countOn(third, db, 'c'), 1)
  t.equal(await loose(db, 'd').countDocuments(), 10)
  await db.command({ collMod: 'd', validator: { x: { $exists: true } } })
  t.match((await db.listCollections<CollectionInfo>({ name: 'd' }).toArray())[0]!.options, {
    validator: { x: { $exists: true } },
  })
  t.equal(await codeOf(loose(db, 'd').insertOne({ y: 1 })), 121)
  await loose(db, 'd').drop()
  t.equal(await entryOf(to), null)
  for (const shard of [home, primary, third])
    t.same(await (await world.shard(shard)).db(db.databaseName).listCollections({ name: 'd' }).toArray(), [], shard)
  await loose(db, 'd').insertOne({ _id: 1 })
  t.equal(await countOn(third, db, 'd'), 1)
  await world.admin({ moveCollection: to, toShard: home })
  await db.dropDatabase()
  t.equal(await entryOf(to), null)
  t.equal(await countOn(home, db, 'd'), 0)
})

t.test('a move is listed by currentOp, and only its own command aborts it', async (t) => {
  const { db, ns, collection, home, primary } = await moved()
  const config = (await directConfig()).db('admin')
  await config.command({ setParameter: 1, reshardingMinimumOperationDurationMillis: 600_000 })
  const moving = codeOf(world.admin({ moveCollection: ns, toShard: primary }))
  while ((await entryOf(ns))!['reshardingFields']?.state !== 'applying');
  await collection.insertOne({ _id: 'meanwhile' })
  const operations = await world.client
    .db('admin')
    .aggregate([
      { $currentOp: { allUsers: true, localOps: false } },
      { $match: { 'originatingCommand.reshardCollection': ns } },
    ])
    .toArray()
  t.same(new Set(operations.map(({ provenance }) => provenance)), new Set(['moveCollection']))
  t.match(await world.config.collection('reshardingOperations').findOne({ ns }), { provenance: 'moveCollection' })
  t.equal(await codeOf(world.admin({ abortReshardCollection: ns })), 20)
  t.equal(await codeOf(world.admin({ abortUnshardCollection: ns })), 20)
  await world.admin({ abortMoveCollection: ns })
  t.equal(await moving, 341)
  t.same(
    (await chunksOf(ns)).map(({ shard }) => shard),
    [home],
  )
  t.equal(await collection.countDocuments(), 11)
  const again = codeOf(world.admin({ moveCollection: ns, toShard: primary }))
  while ((await entryOf(ns))!['reshardingFields']?.state !== 'applying');
  await collection.updateMany({}, { $set: { last: true } })
  await world.admin({ commitReshardCollection: ns })
  t.equal(await again, 'ok')
  await config.command({ setParameter: 1, reshardingMinimumOperationDurationMillis: 0 })
  t.equal(await countOn(primary, db, 'c'), 11)
  t.equal(await collection.countDocuments({ last: true }), 11)
})

t.test('D852 shards keep their catalog cache in no collection', async (t) => {
  const { home } = await moved()
  const shard = await world.shard(home)
  const names = (await shard.db('config').listCollections().toArray()).map(({ name }) => name)
  t.same(
    names.filter((name) => name.startsWith('cache.')),
    [],
  )
  t.equal(await codeOf(shard.db('admin').command({ _flushRoutingTableCacheUpdates: 'app.c' })), 59)
})

t.test('removeShard lists the collections to move off a draining shard', async (t) => {
  const { ns, home } = await moved()
  await world.admin({ removeShard: home })
  const remaining = await world.admin({ removeShard: home })
  t.equal(remaining['state'], 'ongoing')
  t.equal(Number(remaining['remaining'].collectionsToMove), remaining['collectionsToMove'].length)
  t.same(
    (remaining['collectionsToMove'] as string[]).filter((each) => each === ns),
    [ns],
  )
})

t.test('versions before 8.0 do not have these commands', async (t: Test) => {
  const old = await TestCluster.start('7.0', { shards: 1 })
  t.teardown(() => old.stop())
  for (const name of ['moveCollection', 'unshardCollection', 'abortMoveCollection', 'abortUnshardCollection'])
    t.equal(await codeOf(old.admin({ [name]: 'app.c', toShard: 'shard01' })), 59, name)
})
