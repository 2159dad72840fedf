/** Clusters are restored to a snapshot, with unchanged drivers. */
import { MongoClient } from 'mongodb'
import { ShardedCluster } from 'shardlab'
import t from 'tap'
import { admin, collectionOf, connected, fill, quiet } from './support/filled-cluster.js'

t.test("restore brings back the snapshot's state and keeps clients connected", async (t) => {
  const cluster = await ShardedCluster.start(quiet)
  const client = new MongoClient(cluster.uri, { heartbeatFrequencyMS: 500, serverMonitoringMode: 'stream' })
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  const world = { cluster, client }
  await fill(world)
  const things = collectionOf(world)
  const snapshot = await cluster.snapshot()
  const gone: string[] = []
  for (const event of ['connectionClosed', 'connectionPoolCleared', 'serverHeartbeatFailed'] as const)
    client.on(event, () => void gone.push(event))

  const patient = new MongoClient(cluster.uri, { heartbeatFrequencyMS: 2 ** 30, serverMonitoringMode: 'stream' })
  t.teardown(() => patient.close())
  const awaiting = () =>
    new Promise<void>((resolve) => patient.on('serverHeartbeatStarted', ({ awaited }) => awaited && resolve()))
  const awaited = awaiting()
  await patient.connect()
  await awaited
  for (let i = 0; i < 3; i++) {
    const answered = new Promise((resolve) => patient.once('serverHeartbeatSucceeded', resolve))
    const next = awaiting()
    await cluster.restore(snapshot)
    await answered
    await next
  }

  for (let i = 0; i < 3; i++) {
    const cursor = things.find({}, { batchSize: 2 })
    await cursor.next()
    await things.deleteMany({ x: { $gt: 3 } })
    await client.db('other').collection('c').insertOne({ a: 1 })
    await admin(world, { moveChunk: 'app.things', find: { x: 0 }, to: 'shard02' })
    if (i === 0) await cluster.addShard()
    if (i === 1) await cluster.faults.apply('delay from clients to routers by 1ms')
    await cluster.restore(snapshot)
    t.same(cluster.faults.list(), [])
    t.equal(await things.countDocuments({}), 30)
    t.same(await client.db('other').listCollections().toArray(), [])
    t.equal(cluster.shards.length, 3)
    t.equal((await admin(world, { listShards: 1 }))['shards'].length, 3)
    const others = things.find({}, { batchSize: 2 })
    await others.next()
    await t.rejects(
      async () => {
        for await (const _ of cursor);
      },
      { code: 43 },
      'cursors of before are gone, also when there are new ones',
    )
    t.equal((await others.toArray()).length, 29)
  }
  t.same(gone, [])

  const { endpoint } = cluster.members().find(({ address }) => address === 'shard01')!
  const direct = await MongoClient.connect(`mongodb://${endpoint}/?replicaSet=shard01`, { heartbeatFrequencyMS: 500 })
  await cluster.faults.apply('step down shard01')
  await cluster.faults.heal()
  // The driver retries until the member is elected again.
  await direct.db('app').collection<{ _id: number }>('after').insertOne({ _id: 1 })
  t.equal((await direct.db('app').command({ hello: 1 }))['isWritablePrimary'], true)
  await cluster.restore(snapshot)
  const { electionId, isWritablePrimary } = await direct.db('app').command({ hello: 1 })
  t.same(
    [String(electionId), isWritablePrimary],
    ['7fffffff0000000000000002', true],
    'an election that went back would make it a stale primary',
  )
  await direct.close()

  await cluster.addShard()
  t.equal(cluster.shards.length, 4, 'a shard that restore removed can be added again')
  await cluster.crash('shard02')
  await cluster.restore(snapshot)
  t.equal(await things.countDocuments({}), 30, 'a crashed shard runs again')
  await cluster.crash('shard02')
  await cluster.restart('shard02')
  t.equal(await things.countDocuments({}), 30, 'on the disk of the snapshot')

  const begun = await connected(t, await ShardedCluster.start({ from: snapshot }))
  t.equal(await collectionOf(begun).countDocuments({}), 30)
  await collectionOf(begun).deleteMany({})
  await begun.cluster.restore(snapshot)
  t.equal(await collectionOf(begun).countDocuments({}), 30, 'the snapshot of another cluster like this one')
  const hosts = (await begun.client.db('config').collection('shards').find().toArray()).map(({ host }) => host)
  t.same(
    hosts,
    begun.cluster
      .members()
      .flatMap(({ role, address, endpoint }) => (role === 'shard' ? [`${address}/${endpoint}`] : [])),
  )
})
