/** Every emulated version: from enableSharding to documents on all shards. */
import t from 'tap'
import { MongoClient } from 'mongodb'
import { ShardedCluster } from 'shardlab'

const needEnableSharding = ['2.6', '4.0', '4.4', '5.0'] as const
const doNot = ['6.0.2', '6.0', '7.0', '8.0'] as const

for (const emulate of [...needEnableSharding, ...doNot]) {
  t.test(emulate, async (t) => {
    const cluster = await ShardedCluster.start({ shards: 3, mongos: 2, emulate, runtime: 'inline' })
    const [client, other] = (await Promise.all(
      cluster.mongos.map((endpoint) => MongoClient.connect(`mongodb://${endpoint}/?directConnection=true`)),
    )) as [MongoClient, MongoClient]
    t.teardown(async () => {
      await Promise.all([client.close(), other.close()])
      await cluster.stop()
    })
    const shard = (through: MongoClient, name: string) =>
      through.db('admin').command({ shardCollection: `app.${name}`, key: { _id: 'hashed' } })
    const needs = (needEnableSharding as readonly string[]).includes(emulate)
    // The other mongos has cached the database.
    await other.db('app').collection<{ _id: number }>('plain').insertOne({ _id: 1 })
    if (needs) {
      const error =
        emulate === '2.6'
          ? { message: 'sharding not enabled for db' }
          : { code: 20, message: 'sharding not enabled for db app' }
      await t.rejects(shard(client, 'things'), error)
      await client.db('admin').command({ enableSharding: 'app' })
      const entry = await client
        .db('config')
        .collection<{ _id: string; partitioned: boolean }>('databases')
        .findOne({ _id: 'app' })
      t.equal(entry?.partitioned, true)
    }
    await shard(client, 'things')
    await shard(other, 'others')
    const things = client.db('app').collection<{ _id: number; n?: number }>('things')
    await things.insertMany(Array.from({ length: 100 }, (_, i) => ({ _id: i })))
    await things.updateMany({ _id: { $lt: 50 } }, { $set: { n: 1 } })
    t.equal(await things.countDocuments({ n: 1 }), 50)
    t.same(await things.find().sort({ _id: -1 }).limit(2).toArray(), [{ _id: 99 }, { _id: 98 }])
    for (const { id, uri } of cluster.shards) {
      const direct = await MongoClient.connect(uri)
      t.ok((await direct.db('app').collection('things').countDocuments()) > 10, `${id} holds a part`)
      await direct.close()
    }
  })
}
