/** Members that listen on all addresses of the machine are known by a name that clients can use. */
import { lookup } from 'node:dns/promises'
import { MongoClient } from 'mongodb'
import t from 'tap'
import { ShardedCluster } from 'shardlab'

const everywhere = { host: '0.0.0.0', insecure: true, runtime: 'inline' } as const

t.test('a replica set that listens everywhere is found by the name of the machine', async (t) => {
  const cluster = await ShardedCluster.start({ ...everywhere, topology: 'replica-set' })
  t.teardown(() => cluster.stop())
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(() => client.close())
  const { hosts, me } = await client.db('admin').command({ hello: 1 })
  t.equal(hosts.length, 3)
  for (const host of [...hosts, me]) {
    const [name] = host.split(':')
    t.not(name, '0.0.0.0')
    await t.resolves(lookup(name))
  }
  t.match(cluster.uri, `//${hosts[0]}`)
  await client.db('app').collection('a').insertOne({ a: 1 })
  t.equal(await client.db('app').collection('a').countDocuments(), 1)
})

t.test('so are routers and shards, also after a restart', async (t) => {
  const cluster = await ShardedCluster.start({ ...everywhere, shards: 1 })
  t.teardown(() => cluster.stop())
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(() => client.close())
  const { shards } = await client.db('admin').command({ listShards: 1 })
  t.notMatch([cluster.uri, shards[0].host], /0\.0\.0\.0/)
  await client.db('app').collection('a').insertOne({ a: 1 })
  await cluster.crash('shard01')
  await cluster.restart('shard01')
  t.equal(await client.db('app').collection('a').countDocuments(), 1)
  const direct = await MongoClient.connect(`mongodb://${shards[0].host.split('/')[1] ?? shards[0].host}/`)
  t.equal(await direct.db('app').collection('a').countDocuments(), 1)
  await direct.close()
})
