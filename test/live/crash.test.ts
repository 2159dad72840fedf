/**
 * One shard crashes: operations that need it fail as on a real cluster, others succeed; after its
 * restart it has every acknowledged write.
 */
import t from 'tap'
import { MongoBulkWriteError, MongoClient } from 'mongodb'
import { ShardedCluster, type MemberEvent } from 'shardlab'

for (const runtime of ['threads', 'inline'] as const) {
  t.test(runtime, async (t) => {
    const cluster = await ShardedCluster.start({ shards: 3, runtime, findReplicaSetHostTimeoutMs: 300 })
    const client = await MongoClient.connect(cluster.uri)
    t.teardown(async () => {
      await client.close()
      await cluster.stop()
    })
    const states: string[] = []
    cluster.on('member', (event: MemberEvent) => states.push(`${event.member} ${event.state}`))
    await client.db('admin').command({ shardCollection: 'app.things', key: { _id: 'hashed' } })
    const collection = client.db('app').collection<{ _id: number; n?: number }>('things')
    await collection.insertMany(Array.from({ length: 300 }, (_, i) => ({ _id: i, n: 0 })))
    await collection.updateMany({}, { $inc: { n: 1 } })
    const direct = await MongoClient.connect(cluster.shards[1]!.uri)
    const onSecond = (await direct.db('app').collection<{ _id: number }>('things').find().toArray()).map(
      ({ _id }) => _id,
    )
    await direct.close()
    const elsewhere = Array.from({ length: 300 }, (_, i) => i).filter((id) => !onSecond.includes(id))

    await cluster.crash('shard02')
    t.same(await collection.findOne({ _id: elsewhere[0]! }), { _id: elsewhere[0]!, n: 1 }, 'other shards answer')
    await t.rejects(collection.findOne({ _id: onSecond[0]! }), { code: 133, codeName: 'FailedToSatisfyReadPreference' })
    await t.rejects(
      collection.find({}).toArray(),
      { name: 'MongoServerError', code: 133 },
      'a broadcast needs all of them',
    )
    await t.rejects(collection.insertOne({ _id: onSecond[0]! }), { name: 'MongoServerError', code: 133 })
    const bulk = await collection
      .bulkWrite(
        [elsewhere[0]!, onSecond[0]!, elsewhere[1]!].map((_id) => ({
          updateOne: { filter: { _id }, update: { $inc: { n: 1 } } },
        })),
        { ordered: false },
      )
      .then(
        () => null,
        (error: unknown) => error,
      )
    t.ok(bulk instanceof MongoBulkWriteError)
    if (bulk instanceof MongoBulkWriteError) {
      t.equal(bulk.result.modifiedCount, 2, 'the others were written')
      t.same(
        [bulk.writeErrors].flat().map(({ index }) => index),
        [1],
      )
    }

    await cluster.restart('shard02')
    t.equal(await collection.countDocuments({}), 300)
    t.equal((await collection.findOne({ _id: onSecond[0]! }))?.n, 1, 'acknowledged writes are there')
    t.ok(states.includes('shard02 crashed'))
    t.ok(states.includes('shard02 started'))
  })
}

t.test('while the config server is down, cached routes work and new databases fail', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline', findReplicaSetHostTimeoutMs: 200 })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  const things = client.db('app').collection<{ _id: number }>('things')
  await things.insertOne({ _id: 1 })
  await cluster.crash('config')
  t.same(await things.findOne({ _id: 1 }), { _id: 1 })
  await t.rejects(client.db('new').collection<{ _id: number }>('things').insertOne({ _id: 1 }), {
    name: 'MongoServerError',
    code: 133,
  })
  await cluster.restart('config')
  await client.db('new').collection<{ _id: number }>('things').insertOne({ _id: 1 })
  t.equal(await client.db('new').collection('things').countDocuments(), 1)
})
