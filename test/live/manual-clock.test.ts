/** A cluster on a manual clock, with an unchanged driver. */
import { MongoClient } from 'mongodb'
import { setImmediate } from 'node:timers/promises'
import { OptionError, ShardedCluster, type ClusterEvent, type ClusterOptions } from 'shardlab'
import t, { type Test } from 'tap'

async function start(t: Test, options: ClusterOptions = {}): Promise<{ cluster: ShardedCluster; client: MongoClient }> {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline', clock: 'manual', seed: 5, ...options })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  return { cluster, client }
}

t.test('timers fire in order, each at its time', async (t) => {
  const { cluster, client } = await start(t, { balancerRoundIntervalMs: 60_000 })
  const told: [string, number][] = []
  const began = cluster.now()
  const note = (event: ClusterEvent): void => void told.push([event.type, event.atMs - began])
  await client.db('admin').command({ enableSharding: 'app', primaryShard: 'shard01' })
  await client.db('admin').command({ shardCollection: 'app.things', key: { x: 1 } })
  const things = client.db('app').collection<{ x: number; at?: Date }>('things')
  await things.insertMany([{ x: 1 }, { x: 2, at: new Date(cluster.now()) }])
  await things.createIndex({ at: 1 }, { expireAfterSeconds: 1200 })
  await client.db('admin').command({ moveChunk: 'app.things', find: { x: 1 }, to: 'shard02' })
  t.ok(cluster.now() - began < 1000, 'nothing had to wait')
  cluster.on('range-deleted', note)
  cluster.on('fault-applied', note)
  cluster.on('fault-healed', note)
  await cluster.faults.apply('pause balancer after 10m for 30s')
  await cluster.advance('15m')
  await cluster.advance(1000)
  t.same(
    told.map(([type, atMs]) => [type, Math.floor(atMs / 1000)]),
    [
      ['fault-applied', 600],
      ['fault-healed', 630],
      ['range-deleted', 900],
    ],
  )
  t.equal(await things.countDocuments({}), 2)
  await cluster.advance('7m')
  t.equal(await things.countDocuments({}), 1, 'the TTL monitor has run')
})

t.test('the clock advances by itself while a client waits for a shard that is down', async (t) => {
  const { cluster, client } = await start(t)
  const things = client.db('app').collection<{ _id: number }>('things')
  await things.insertOne({ _id: 1 })
  const { primary } = (await client
    .db('config')
    .collection<{ _id: string; primary: string }>('databases')
    .findOne({ _id: 'app' }))!
  const before = cluster.now()
  await cluster.faults.apply(`crash ${primary}`)
  await t.rejects(things.findOne({ _id: 1 }), { code: 133 })
  t.ok(cluster.now() - before >= 15_000, 'time has jumped')
  await cluster.faults.heal()
  t.same(await things.findOne({ _id: 1 }), { _id: 1 })
})

t.test('without auto-advance the wait lasts until the test advances the clock', async (t) => {
  const { cluster, client } = await start(t, { autoAdvance: false })
  const things = client.db('app').collection<{ _id: number }>('things')
  await things.insertOne({ _id: 1 })
  const { primary } = (await client
    .db('config')
    .collection<{ _id: string; primary: string }>('databases')
    .findOne({ _id: 'app' }))!
  await cluster.faults.apply(`step down ${primary} for 5s`)
  const inserted = things.insertOne({ _id: 2 })
  while ((await cluster.describe('mongos01'))['inFlight'] === 0) await setImmediate()
  const before = cluster.now()
  // The same router answers other operations, although the time has not advanced.
  await client.db('admin').command({ ping: 1 })
  t.equal(cluster.now(), before)
  await cluster.advance('6s')
  t.match(await inserted, { acknowledged: true })
})

t.test('the clock refuses to go back and to exceed its limit', async (t) => {
  const { cluster } = await start(t)
  const began = cluster.now()
  for (const [duration, message] of [
    [-1, 'the time to advance is -1; it must not be negative.'],
    ['36526d', 'the time to advance is "36526d"; give at most 36525d, 100 years.'],
    [Number.NaN, 'the time to advance is NaN; it must be a number of milliseconds, or a time such as 15m.'],
  ] as const)
    await t.rejects(cluster.advance(duration), new OptionError(message))
  t.equal(cluster.now(), began)
})

t.test('only inline clusters can have a manual clock', async (t) => {
  await t.rejects(
    ShardedCluster.start({ clock: 'manual' }),
    new OptionError("clock: 'manual' needs runtime: 'inline'; set both."),
  )
  await t.rejects(ShardedCluster.start({ runtime: 'inline', autoAdvance: false }), /autoAdvance needs clock: 'manual'/)
  const { cluster } = await start(t, { clock: 'real' })
  await t.rejects(cluster.advance('1s'), /only a manual clock can be advanced/)
})
