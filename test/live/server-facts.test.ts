/** What commands of administrators report about a member of a running cluster. */
import { ShardedCluster } from 'shardlab'
import { MongoClient, type Document } from 'mongodb'
import t from 'tap'

const versionDocument = async (client: MongoClient): Promise<Document | null> =>
  client.db('admin').collection<{ _id: string }>('system.version').findOne({ _id: 'featureCompatibilityVersion' })

t.test(
  'a shard stores its feature compatibility version: the oldest before it joins, then the cluster’s',
  async (t) => {
    for (const [emulate, oldest, own] of [
      ['4.0', '3.6', '4.0'],
      ['7.0', '6.0', '7.0'],
    ] as const) {
      await using cluster = await ShardedCluster.start({ shards: 1, standby: ['rs1'], runtime: 'inline', emulate })
      const [router, shard, standby] = await Promise.all(
        [cluster.uri, cluster.shards[0]!.uri, cluster.standby[0]!.uri].map((uri) => MongoClient.connect(uri)),
      )
      t.same(await versionDocument(shard!), { _id: 'featureCompatibilityVersion', version: own })
      t.same(await versionDocument(standby!), { _id: 'featureCompatibilityVersion', version: oldest })
      const confirm = emulate === '7.0' ? { confirm: true } : {}
      await router!.db('admin').command({ setFeatureCompatibilityVersion: oldest, ...confirm })
      t.match(await versionDocument(shard!), { version: oldest })
      await router!.db('admin').command({ setFeatureCompatibilityVersion: own, ...confirm })
      await router!.db('admin').command({ addShard: cluster.standby[0]!.host })
      t.match(await versionDocument(standby!), { version: own })
      for (const client of [router!, shard!, standby!]) await client.close()
    }
  },
)

t.test('serverStatus of routers, shards and the config server has the chunk size of the cluster', async (t) => {
  await using cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', chunkSize: '2MB' })
  const [router, shard] = await Promise.all(
    [cluster.uri, cluster.shards[0]!.uri].map((uri) => MongoClient.connect(uri)),
  )
  const sizeOf = async (client: MongoClient) =>
    Number((await client.db('admin').command({ serverStatus: 1 }))['sharding'].maxChunkSizeInBytes)
  t.equal(await sizeOf(router!), 2 * 1024 * 1024)
  t.equal(await sizeOf(shard!), 2 * 1024 * 1024)
  await router!
    .db('config')
    .collection<{ _id: string }>('settings')
    .updateOne({ _id: 'chunksize' }, { $set: { value: 4 } })
  t.equal(await sizeOf(shard!), 4 * 1024 * 1024)
  await cluster.crash('config')
  t.equal(await sizeOf(shard!), 4 * 1024 * 1024, 'the last known size while the config server is down')
  for (const client of [router!, shard!]) await client.close()
})

t.test('serverStatus has the page faults of the process and the connections that a member accepts', async (t) => {
  await using cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline' })
  const client = await MongoClient.connect(cluster.uri)
  const before = process.resourceUsage().majorPageFault
  const { extra_info: extra, connections } = await client.db('admin').command({ serverStatus: 1 })
  t.ok(Number(extra.page_faults) >= before && Number(extra.page_faults) <= process.resourceUsage().majorPageFault)
  t.equal(connections.current + connections.available, 10_000)
  await client.close()
})
