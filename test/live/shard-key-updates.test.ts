/**
 * Updates that move a document to another shard, through the official driver: applications see an
 * ordinary update.
 */
import t from 'tap'
import { MongoClient } from 'mongodb'
import { ShardedCluster } from 'shardlab'

interface Order {
  _id: number
  region: string
  n: number
}

/** The keys on each shard. */
async function placed(client: MongoClient, cluster: ShardedCluster): Promise<string[][]> {
  const orders = client.db('app').collection<Order>('orders')
  const regions = Array.from({ length: 30 }, (_, i) => `region ${i}`)
  await orders.insertMany(regions.map((region, i) => ({ _id: 1000 + i, region, n: 0 })))
  const lists: string[][] = []
  for (const { uri } of cluster.shards) {
    const direct = await MongoClient.connect(uri)
    lists.push((await direct.db('app').collection<Order>('orders').find().toArray()).map(({ region }) => region))
    await direct.close()
  }
  await orders.deleteMany({})
  return lists
}

t.test('replace, update, findOneAnd…, upsert and bulk writes can change the shard key', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline' })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  await client.db('admin').command({ shardCollection: 'app.orders', key: { region: 'hashed' } })
  const orders = client.db('app').collection<Order>('orders')
  const [here, there] = (await placed(client, cluster)) as [string[], string[]]
  const [a, b] = [here[0]!, there[0]!]
  await orders.insertMany([0, 1, 2].map((_id) => ({ _id, region: a, n: _id })))
  t.match(await orders.updateOne({ _id: 0, region: a }, { $set: { region: b } }), {
    matchedCount: 1,
    modifiedCount: 1,
    upsertedCount: 0,
  })
  t.match(await orders.replaceOne({ _id: 1, region: a }, { region: b, n: 10 }), { matchedCount: 1, modifiedCount: 1 })
  t.same(await orders.findOneAndUpdate({ _id: 2, region: a }, { $set: { region: b } }, { returnDocument: 'after' }), {
    _id: 2,
    region: b,
    n: 2,
  })
  t.same(await orders.findOneAndReplace({ _id: 2, region: b }, { region: a, n: 20 }), { _id: 2, region: b, n: 2 })
  t.match(await orders.updateOne({ _id: 3, region: a }, { $set: { region: b, n: 3 } }, { upsert: true }), {
    matchedCount: 0,
    upsertedId: 3,
  })
  const moves = [
    { updateOne: { filter: { _id: 0, region: b }, update: { $set: { region: a } } } },
    { updateOne: { filter: { _id: 1, region: b }, update: { $set: { region: a } } } },
  ]
  await t.rejects(orders.bulkWrite(moves), { code: 72 }, 'one at a time')
  t.match(await orders.bulkWrite(moves.slice(0, 1)), { matchedCount: 1, modifiedCount: 1 })
  t.same(await orders.find().sort({ _id: 1 }).toArray(), [
    { _id: 0, region: a, n: 0 },
    { _id: 1, region: b, n: 10 },
    { _id: 2, region: a, n: 20 },
    { _id: 3, region: b, n: 3 },
  ])
  t.equal(await orders.countDocuments({ region: a }), 2)
})
