/**
 * A driver that runs long: its monitor streams the state of the mongos, and no heartbeat clears its
 * connection pool.
 */
import t from 'tap'
import { MongoClient } from 'mongodb'
import { ShardedCluster } from 'shardlab'

t.test('a streaming heartbeat starts when the previous one ends', async (t) => {
  await using cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline' })
  for (const uri of [cluster.uri, cluster.shards[0]!.uri]) {
    await using client = new MongoClient(uri, { heartbeatFrequencyMS: 500 })
    const failed: string[] = []
    client.on('serverHeartbeatFailed', ({ failure }) => failed.push(failure.message))
    client.on('connectionPoolCleared', () => failed.push('the pool was cleared'))
    let streamed = 0
    const thrice = new Promise<void>((resolve) => {
      client.on('serverHeartbeatSucceeded', ({ awaited }) => void (awaited && ++streamed === 3 && resolve()))
      client.on('serverHeartbeatFailed', () => resolve())
    })
    await client.connect()
    await thrice
    t.same(failed, [])
  }
})
