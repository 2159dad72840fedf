import { ShardedCluster } from 'shardlab'
import { MongoClient, MongoNetworkError } from 'mongodb'
import t from 'tap'

const refusal = (admin: ReturnType<MongoClient['db']>, command: object): Promise<unknown> =>
  admin.command(command).then(
    (reply) => reply,
    (error: unknown) => error,
  )

/** The cluster learns of it after the client. */
const ended = (cluster: ShardedCluster, member: string): Promise<void> =>
  new Promise((resolve) => {
    cluster.on('member', (event) => {
      if (event.member === member && event.state === 'crashed') resolve()
    })
  })

for (const runtime of ['inline', 'threads'] as const) {
  t.test(
    `D720 shutdown ends a shard and a router without a reply, until the cluster restarts them (${runtime})`,
    async (t) => {
      await using cluster = await ShardedCluster.start({ shards: 2, mongos: 2, runtime })
      const [first, second] = await Promise.all(
        cluster.mongos.map((endpoint) => MongoClient.connect(`mongodb://${endpoint}/?retryReads=false`)),
      )
      const documents = first!.db('shop').collection<{ _id: number }>('c')
      await first!.db('admin').command({ enableSharding: 'shop', primaryShard: 'shard02' })
      await documents.insertOne({ _id: 1 })
      const shard = await MongoClient.connect(cluster.shards[1]!.uri)
      t.match(await refusal(shard.db('admin'), { shutdown: 1, timeoutSecs: 0 }), { code: 262 }, 'a primary needs force')
      const shardEnded = ended(cluster, 'shard02')
      t.type(await refusal(shard.db('admin'), { shutdown: 1, force: true }), MongoNetworkError)
      await shardEnded
      await shard.close()
      await cluster.restart('shard02')
      t.same(await documents.find().toArray(), [{ _id: 1 }], 'acknowledged writes are on the disk')
      const routerEnded = ended(cluster, 'mongos01')
      t.type(await refusal(first!.db('admin'), { shutdown: 1 }), MongoNetworkError)
      await routerEnded
      t.same(await second!.db('shop').collection('c').countDocuments(), 1, 'the other router works')
      t.match(await refusal(second!.db('shop'), { shutdown: 1 }), { code: 13 })
      await cluster.restart('mongos01')
      t.equal(await documents.countDocuments(), 1, 'the port is open again')
      for (const client of [first!, second!]) await client.close()
    },
  )
}
