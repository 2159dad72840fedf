/** A primary that cannot reach its set. Server: shard_server_catalog_cache_loader.cpp. */
import { MongoClient } from 'mongodb'
import t from 'tap'
import { ShardedCluster } from 'shardlab'

t.test('a primary without a majority uses the placements that it knows, and no new ones', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, members: 3, runtime: 'inline' })
  t.teardown(() => cluster.stop())
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(() => client.close())
  const app = client.db('app')
  await client.db('admin').command({ enableSharding: 'app', primaryShard: 'shard01' })
  await app.collection<{ _id: number }>('known').insertOne({ _id: 1 })

  const paused = await cluster.faults.apply('pause the secondaries of shard01')
  t.same(await app.collection('known').find().toArray(), [{ _id: 1 }])
  await t.rejects(app.command({ find: 'other', maxTimeMS: 300 }), { code: 50 })
  await cluster.faults.heal(paused.id)
  t.same(await app.collection('other').find().toArray(), [])
})
