/**
 * The official driver on a cluster of the command line: a sharded collection holds every inserted
 * document, and operations are targeted as by a mongos.
 */
import t from 'tap'
import { MongoClient } from 'mongodb'
import { ShardedCluster, type RoutedEvent } from 'shardlab'
import { up } from '../support/up.js'

const total = process.env['SHARDLAB_LONG'] === '1' ? 100_000 : 20_000

t.test(`${total} documents are distributed over three shards`, { timeout: 110_000 }, async (t) => {
  const running = await up('--port', '0')
  const client = await MongoClient.connect(running.ready.uri)
  t.teardown(async () => {
    await client.close()
    await running.stop()
  })
  const collection = client.db('app').collection('things')
  const reply = await client.db('admin').command({ shardCollection: 'app.things', key: { _id: 'hashed' } })
  t.equal(reply['collectionsharded'], 'app.things')
  for (let at = 0; at < total; at += 10_000) {
    const { insertedCount } = await collection.insertMany(
      Array.from({ length: 10_000 }, (_, i) => ({ n: at + i, other: (at + i) % 1000 })),
    )
    t.equal(insertedCount, 10_000)
  }
  t.equal(await collection.countDocuments(), total)
  t.equal(await collection.estimatedDocumentCount(), total)
  for (const shard of running.ready.shards) {
    const direct = await MongoClient.connect(shard.uri)
    const held = await direct.db('app').collection('things').countDocuments()
    t.ok(held > total / 6 && held < total / 2, `${shard.id} holds ${held}`)
    await direct.close()
  }
  const seen = new Set<string>()
  for await (const document of collection.find({}, { batchSize: 1000 })) seen.add(document._id.toHexString())
  t.equal(seen.size, total, 'a cursor over all returns each _id once')
})

for (const runtime of ['threads', 'inline'] as const) {
  t.test(`operations ask the shards that a mongos would ask, ${runtime}`, async (t) => {
    const cluster = await ShardedCluster.start({ shards: 3, runtime })
    const client = await MongoClient.connect(cluster.uri)
    t.teardown(async () => {
      await client.close()
      await cluster.stop()
    })
    const routed: RoutedEvent[] = []
    cluster.on('routed', (event) => routed.push(event))
    const eventOf = async (command: string): Promise<RoutedEvent> => {
      for (;;) {
        const event = routed.find((each) => each.command === command)
        if (event !== undefined) return event
        await new Promise((resolve) => cluster.once('routed', resolve))
      }
    }
    await client.db('admin').command({ shardCollection: 'app.things', key: { _id: 'hashed' } })
    const collection = client.db('app').collection<{ _id: number; other: number }>('things')
    await collection.insertMany(Array.from({ length: 300 }, (_, i) => ({ _id: i, other: i % 10 })))

    routed.length = 0
    t.same(await collection.find({ _id: 7 }).toArray(), [{ _id: 7, other: 7 }])
    const byKey = await eventOf('find')
    t.equal(byKey.kind, 'targeted')
    t.equal(byKey.shards.length, 1)
    t.equal(byKey.ns, 'app.things')
    t.equal(byKey.chunks, 1)

    routed.length = 0
    t.equal((await collection.find({ other: 3 }).toArray()).length, 30)
    const byOther = await eventOf('find')
    t.equal(byOther.kind, 'broadcast')
    t.same(byOther.shards, ['shard01', 'shard02', 'shard03'])

    const sorted = await collection.find({}, { sort: { _id: -1 }, skip: 5, limit: 7, batchSize: 2 }).toArray()
    t.same(
      sorted.map(({ _id }) => _id),
      [294, 293, 292, 291, 290, 289, 288],
      'sorted streams merge, skip and limit count once',
    )

    t.same(await collection.updateOne({ _id: 7 }, { $inc: { other: 100 }, $set: { name: 'seven' } }), {
      acknowledged: true,
      modifiedCount: 1,
      upsertedId: null,
      upsertedCount: 0,
      matchedCount: 1,
    })
    t.equal((await collection.updateMany({ other: { $lt: 5 } }, { $set: { low: true } })).modifiedCount, 150)
    t.equal((await collection.replaceOne({ _id: 8 }, { other: -1 })).modifiedCount, 1)
    t.same(await collection.findOne({ _id: 8 }), { _id: 8, other: -1 })
    t.equal((await collection.deleteMany({ other: 9 })).deletedCount, 30)
    t.equal(await collection.countDocuments({}), 270)
    await t.rejects(collection.insertOne({ _id: 7, other: 0 }), { code: 11000 })
    t.ok(await collection.drop())
    t.equal(await collection.countDocuments({}), 0)
  })
}

t.test('a burst of unacknowledged writes arrives whole and in order', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2 })
  // All on one connection: the count follows the writes.
  const client = await MongoClient.connect(cluster.uri, { maxPoolSize: 1 })
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  const collection = client.db('app').collection<{ _id: number; text?: string }>('things', { writeConcern: { w: 0 } })
  const text = 'x'.repeat(20_000)
  for (let i = 0; i < 1000; i++) {
    await collection.insertOne({ _id: i, text })
    await collection.updateOne({ _id: i }, { $set: { text: `${i}` } })
  }
  t.equal(await collection.countDocuments({ $expr: { $eq: ['$text', { $toString: '$_id' }] } }), 1000)
})
