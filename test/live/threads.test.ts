/**
 * Each member is an actor on a worker thread, and messages between them are plain msgpack.
 */
import t from 'tap'
import { MongoClient } from 'mongodb'
import { ShardedCluster } from 'shardlab'

t.test('with enough hosts every member runs on a thread of its own', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 3, runtime: 'threads', hosts: 64 })
  t.teardown(() => cluster.stop())
  const threads = cluster.members().map(({ address, threadId }) => ({ address, threadId }))
  t.same(threads.map(({ address }) => address).sort(), [
    'balancer',
    'config',
    'mongos01',
    'shard01',
    'shard02',
    'shard03',
  ])
  t.equal(new Set(threads.map(({ threadId }) => threadId)).size, 6, 'all distinct')
  t.notOk(
    threads.some(({ threadId }) => threadId === 0),
    "none on the caller's",
  )
})

t.test('fewer hosts than members share threads and work the same', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 4, hosts: 2 })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  t.equal(new Set(cluster.members().map(({ threadId }) => threadId)).size, 2)
  await client.db('admin').command({ shardCollection: 'app.c', key: { _id: 'hashed' } })
  await client
    .db('app')
    .collection<{ _id: number }>('c')
    .insertMany(Array.from({ length: 100 }, (_, i) => ({ _id: i })))
  t.equal(await client.db('app').collection('c').countDocuments(), 100)
})

t.test('an inline cluster runs in the calling thread', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 3, runtime: 'inline' })
  t.teardown(() => cluster.stop())
  t.same([...new Set(cluster.members().map(({ threadId }) => threadId))], [0])
})

t.test('a shared thread ends after a crash of a member whose client was leaving', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, hosts: 1 })
  const direct = await MongoClient.connect(cluster.shards[1]!.uri)
  await direct.db('app').collection('c').findOne()
  await direct.close()
  await cluster.crash('shard02')
  await cluster.stop()
  t.equal(cluster.members().filter(({ state }) => state === 'running').length, 0)
})
