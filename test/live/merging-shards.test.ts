/**
 * Pipelines that a shard merges for a router, through the official driver, while collections and
 * databases move.
 */
import t from 'tap'
import type { Db, Document } from 'mongodb'
import { TestCluster, type Loose } from '../support/clusters.js'

let world: TestCluster
t.before(async () => {
  world = await TestCluster.start('8.0')
})
t.teardown(() => world.stop())

const rows = Array.from({ length: 300 }, (_, _id) => ({ _id, x: _id - 150, k: _id % 5 }))

/** `orders` on two shards, `things` on the primary shard, which is the first. */
async function filled(): Promise<{ db: Db; orders: Loose; primary: string; other: string }> {
  const db = await world.database()
  const [primary, other] = world.shardIds as [string, string]
  const loose = (name: string): Loose => db.collection<any>(name)
  await world.admin({ shardCollection: `${db.databaseName}.orders`, key: { x: 1 } })
  await world.admin({ split: `${db.databaseName}.orders`, middle: { x: 0 } })
  await world.admin({ moveChunk: `${db.databaseName}.orders`, find: { x: 0 }, to: other })
  await loose('orders').insertMany(rows)
  await loose('things').insertMany([0, 1, 2, 3, 4].map((k) => ({ _id: k, k, price: k * 10 })))
  return { db, orders: loose('orders'), primary, other }
}

const join = [
  { $lookup: { from: 'things', localField: 'k', foreignField: 'k', as: 'found' } },
  { $group: { _id: { $first: '$found.price' }, n: { $sum: 1 } } },
  { $sort: { _id: 1 } },
]
const joined = [0, 10, 20, 30, 40].map((_id) => ({ _id, n: 60 }))

const placeOf = async (orders: Loose, pipeline: Document[]): Promise<unknown> => {
  const { mergeType, mergeShardId } = await orders.aggregate(pipeline).explain('executionStats')
  return { mergeType, mergeShardId }
}

t.test('joins run on the primary shard, also after it has moved', async (t) => {
  const { db, orders, primary, other } = await filled()
  t.same(await placeOf(orders, join), { mergeType: 'specificShard', mergeShardId: primary })
  t.same(await orders.aggregate(join, { batchSize: 2 }).toArray(), joined)
  await world.admin({ movePrimary: db.databaseName, to: other })
  t.same(await orders.aggregate(join, { batchSize: 2 }).toArray(), joined)
  t.same(await placeOf(orders, join), { mergeType: 'specificShard', mergeShardId: other })
  const one = [{ $match: { x: 100 } }, ...join]
  t.equal((await orders.aggregate(one).explain())['splitPipeline'], null)
  t.same(await orders.aggregate(one).toArray(), [{ _id: 0, n: 1 }])
  await world.admin({ movePrimary: db.databaseName, to: primary })
  t.same(
    await orders.aggregate(one).toArray(),
    [{ _id: 0, n: 1 }],
    'the shard that had it alone is the primary one no more',
  )
  await world.admin({ shardCollection: `${db.databaseName}.things`, key: { _id: 1 } })
  t.same(await orders.aggregate(join).toArray(), joined, 'the router joins')
})

t.test('a merged cursor survives chunks that move between two batches', async (t) => {
  const { db, orders } = await filled()
  const cursor = orders.aggregate([{ $unionWith: 'things' }], { batchSize: 10 })
  t.ok(await cursor.next())
  await world.admin({ moveChunk: `${db.databaseName}.orders`, find: { x: 0 }, to: world.shardIds[2] })
  t.equal((await cursor.toArray()).length, 304)
  t.equal((await orders.aggregate([{ $unionWith: 'things' }, { $count: 'n' }]).next())!['n'], 305)
})

t.test('merging shards keep sessions and snapshots', async (t) => {
  const { orders } = await filled()
  await world.client.withSession(async (session) => {
    t.same(await orders.aggregate(join, { batchSize: 1, session }).toArray(), joined)
  })
  await world.client.withSession({ snapshot: true }, async (session) => {
    const count = async () =>
      (await orders.aggregate([{ $group: { _id: null, n: { $sum: 1 } } }], { session }).next())!['n'] as number
    t.equal(await count(), 300)
    await orders.deleteMany({ k: 1 })
    t.equal(await count(), 300)
    t.same(await orders.aggregate(join, { session }).toArray(), joined)
  })
})
