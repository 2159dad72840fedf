/** Drivers monitor a standalone mongod by hello requests that wait for a change. */
import { MongoClient } from 'mongodb'
import { ShardedCluster } from '@shardlab/cluster'
import t from 'tap'

t.test('a hello to a standalone mongod waits, so that a driver sends few', async (test) => {
  await using cluster = await ShardedCluster.start({ topology: 'standalone', runtime: 'inline' })
  const client = new MongoClient(cluster.uri)
  let heartbeats = 0
  client.on('serverHeartbeatStarted', () => heartbeats++)
  await client.connect()
  for (let i = 0; i < 200; i++) await client.db('app').command({ ping: 1 })
  test.ok(heartbeats < 10, `${heartbeats} heartbeats`)
  await client.close()
})
