/**
 * Copies of clusters with unchanged drivers: forks that run next to their original, and snapshots
 * that a cluster is restored to.
 */
import { Binary, Long } from '@shardlab/bson'
import { MongoClient, type Document } from 'mongodb'
import { randomBytes } from 'node:crypto'
import { BusyWorldError, OptionError, ShardedCluster, type EmulatedVersion } from 'shardlab'
import t from 'tap'
import type { RawClient } from '../support/raw-client.js'
import {
  admin,
  collectionOf,
  connected,
  fill,
  forked,
  idsOf,
  placesOf,
  quiet,
  start,
  through,
  type World,
} from './support/filled-cluster.js'

for (const emulate of ['2.6', '7.0', '8.0'] as const satisfies readonly EmulatedVersion[]) {
  t.test(`${emulate}: a fork is what the cluster was, and goes on by itself`, async (t) => {
    const original = await start(t, { emulate })
    await fill(original)
    const before = await placesOf(original)
    const fork = await forked(t, original)
    t.not(fork.cluster.uri, original.cluster.uri)
    const [ours, theirs] = [collectionOf(original), collectionOf(fork)]
    t.same(
      await idsOf(theirs),
      Array.from({ length: 30 }, (_, i) => i),
    )
    t.same(await placesOf(fork), before, 'every document is where it was')
    const status = await admin(fork, { serverStatus: 1 })
    const refreshes = status['shardingStatistics']?.catalogCache
    if (emulate === '7.0')
      t.match(refreshes, { countFullRefreshesStarted: 0 }, 'its router has learned the routes of the original')

    t.same(await idsOf(theirs, { tags: 'b7' }), [7])
    t.match(await theirs.indexes(), [{ name: '_id_' }, { name: 'x_1' }, { name: 'y_1' }, { name: 'tags_1' }])
    if (emulate !== '2.6') t.same(await idsOf(collectionOf(fork, 'seen')), [1, 4, 7, 10, 13, 16, 19, 22, 25, 28])
    await collectionOf(fork, 'last').insertOne({ _id: 5 })
    t.same(await idsOf(collectionOf(fork, 'last')), [3, 4, 5], 'capped')
    t.same(await idsOf(collectionOf(original, 'last')), [2, 3, 4])
    await t.rejects(collectionOf(fork, 'unique').insertOne({ email: 'a' }), { code: 11000 })

    await theirs.deleteMany({ y: 0 })
    await ours.updateMany({ y: 1 }, { $set: { y: 7 } })
    t.equal(await ours.countDocuments({}), 30)
    t.equal(await theirs.countDocuments({ y: 7 }), 0)
    t.equal(await theirs.countDocuments({}), 20)

    await admin(fork, { moveChunk: 'app.things', find: { x: 0 }, to: 'shard03' })
    t.equal(await theirs.countDocuments({}), 20)
    await theirs.insertOne({ _id: 'new', x: 5 })
    t.same((await placesOf(original))['shard01'], before['shard01'], 'what moves in one does not move in the other')

    const hosts = (await fork.client.db('config').collection('shards').find().toArray()).map(
      ({ host }) => host.split('/')[1],
    )
    t.same(
      hosts,
      fork.cluster.shards.map(({ uri }) => uri.split('/')[2]),
      'its catalog knows where its members are',
    )
    for (const { cluster } of [original, fork]) for (const { id } of cluster.shards) await cluster.crash(id)
    for (const { cluster } of [original, fork]) for (const { id } of cluster.shards) await cluster.restart(id)
    t.equal(await ours.countDocuments({ y: 7 }), 10, 'each recovers from a disk of its own')
    t.equal(await theirs.countDocuments({}), 21)
  })
}

t.test('under writers: what is acknowledged is in the fork, nothing twice', async (t) => {
  const original = await start(t, { mongos: 2 })
  await fill(original)
  let stopped = false
  let forking = false
  const acknowledged: string[] = []
  let before: string[] = []
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let n = 0; !stopped; n++) {
      const _id = `${writer}/${n}`
      await collectionOf(original).insertOne({ _id, x: (writer * 7 + n) % 30 })
      acknowledged.push(_id)
      if (acknowledged.length > 40 && !forking) {
        forking = true
        before = [...acknowledged]
        void copies()
      }
    }
  })
  const forks: World[] = []
  let done!: () => void
  const all = new Promise<void>((resolve) => (done = resolve))
  const copies = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) forks.push(await forked(t, original))
    stopped = true
    done()
  }
  await all
  await Promise.all(writers)
  t.equal(await collectionOf(original).countDocuments({}), 30 + acknowledged.length)
  for (const [i, fork] of forks.entries()) {
    const ids = (await idsOf(collectionOf(fork))).filter((id): id is string => typeof id === 'string')
    if (i === 0)
      t.same(
        before.filter((id) => !ids.includes(id)),
        [],
      )
    t.equal(new Set(ids).size, ids.length)
    for (let writer = 0; writer < 4; writer++) {
      const numbers = ids.filter((id) => id.startsWith(`${writer}/`)).map((id) => Number(id.split('/')[1]))
      t.equal(
        Math.max(...numbers, -1) + 1,
        numbers.length,
        'each writer has come to some point, with nothing missing before',
      )
    }
  }
})

t.test('a copy knows what its original knew, and not more', async (t) => {
  const original = await start(t, { mongos: 2 })
  await fill(original)
  const find = { find: 'things', filter: { x: 12 }, $db: 'app' }
  const statistics = async (raw: RawClient): Promise<Document> =>
    (await raw.command({ serverStatus: 1, $db: 'admin' }))['shardingStatistics'].catalogCache
  const versionOn = async ({ cluster }: World, shard: number): Promise<Document> => {
    const direct = await MongoClient.connect(cluster.shards[shard]!.uri)
    const version = await direct.db('admin').command({ getShardVersion: 'app.things' })
    await direct.close()
    return version['global']
  }
  const [first, second] = [await through(t, original, 0), await through(t, original, 1)]
  await second.command(find)
  await first.command({ moveChunk: 'app.things', find: { x: 12 }, to: 'shard03', $db: 'admin' })
  const fork = await forked(t, original)
  for (const shard of [0, 1, 2]) t.same(await versionOn(fork, shard), await versionOn(original, shard))
  for (const world of [original, fork]) {
    const stale = await through(t, world, 1)
    const before = await statistics(stale)
    t.match(await stale.command(find), { cursor: { firstBatch: [{ _id: 12 }] } })
    const after = await statistics(stale)
    t.equal(
      after['countStaleConfigErrors'] - before['countStaleConfigErrors'],
      1,
      'the other router has not heard of the migration',
    )
  }
})

t.test('a retryable write runs once, also when it is repeated in a fork', async (t) => {
  const original = await start(t)
  await fill(original)
  const write = {
    update: 'things',
    updates: [{ q: { x: 3 }, u: { $inc: { n: 1 } } }],
    lsid: { id: new Binary(randomBytes(16), 4) },
    txnNumber: Long.fromNumber(7),
  }
  // Not through the driver, which would add a session of its own.
  const send = async (world: World, command: Document): Promise<Document> =>
    (await through(t, world, 0)).command({ ...command, $db: 'app' })
  t.match(await send(original, write), { nModified: 1 })
  const fork = await forked(t, original)
  for (const world of [original, fork]) {
    t.match(await send(world, write), { nModified: 1 })
    t.match(await collectionOf(world).findOne({ x: 3 }), { n: 1 })
  }
  const next = { ...write, txnNumber: Long.fromNumber(8) }
  t.match(await send(fork, next), { nModified: 1 })
  t.match(await collectionOf(fork).findOne({ x: 3 }), { n: 2 })
  t.match(await send(fork, { ...write, txnNumber: Long.fromNumber(6) }), { writeErrors: [{ code: 225 }] })
  t.match(await send(original, write), { nModified: 1 }, 'the original has heard nothing of that')
  t.match(await send(original, next), { nModified: 1 })
  await fork.cluster.crash('shard01')
  await fork.cluster.restart('shard01')
  t.match(await send(fork, next), { nModified: 1 })
  t.match(await collectionOf(fork).findOne({ x: 3 }), { n: 2 })

  const second = await forked(t, original)
  const longer = { ...next, updates: [...next.updates, { q: { x: 4 }, u: { $inc: { n: 1 } } }] }
  for (const world of [second, original, second]) t.match(await send(world, longer), { nModified: 2 })
  for (const world of [second, original]) {
    t.match(await collectionOf(world).findOne({ x: 3 }), { n: 2 })
    t.match(await collectionOf(world).findOne({ x: 4 }), { n: 1 }, 'a statement that came later ran once in each')
  }
})

t.test('restore: the cluster is what it was, and clients stay connected', async (t) => {
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
  t.equal(cluster.shards.length, 4, 'a shard that is gone can come again')
  await cluster.crash('shard02')
  await cluster.restore(snapshot)
  t.equal(await things.countDocuments({}), 30, 'who was down runs again')
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

t.test('a member that is down is down in the fork, with its disk', async (t) => {
  const original = await start(t)
  await fill(original)
  for (const shard of ['shard02', 'shard03']) await original.cluster.faults.apply(`crash ${shard}`)
  const fork = await forked(t, original)
  t.same(fork.cluster.faults.list(), [], 'what is broken on purpose is no part of it')
  t.equal(fork.cluster.members().find(({ address }) => address === 'shard02')!.state, 'crashed')
  await fork.cluster.restart('shard02')
  await fork.cluster.faults.apply('restart shard03')
  t.equal(await collectionOf(fork).countDocuments({}), 30)
  const config = fork.client.db('config').collection<{ _id: string; host: string }>('shards')
  for (const shard of ['shard02', 'shard03']) {
    const { endpoint } = fork.cluster.members().find(({ address }) => address === shard)!
    t.match(
      await config.findOne({ _id: shard }),
      { host: `${shard}/${endpoint}` },
      'its catalog knows where it listens now',
    )
  }
  await original.cluster.faults.heal()
  t.equal(await collectionOf(original).countDocuments({}), 30)
})

t.test('refused while something runs that no copy could carry on', async (t) => {
  const world = await start(t)
  await fill(world)
  const { cluster } = world
  const snapshot = await cluster.snapshot()
  const held = async (step: string, command: Document, says: RegExp): Promise<void> => {
    const { id } = await cluster.faults.apply(`hold at ${step}`)
    const running = admin(world, command)
    while (cluster.faults.list()[0]?.strikes === 0) await new Promise(setImmediate)
    const attempts: (() => Promise<unknown>)[] = [
      () => cluster.snapshot(),
      () => cluster.fork(),
      () => cluster.restore(snapshot),
    ]
    for (const attempt of attempts) await t.rejects(attempt, Object.assign(new BusyWorldError([]), { message: says }))
    t.equal(cluster.faults.list().length, 1, 'nothing has changed')
    await cluster.faults.heal(id)
    await running
  }
  await held(
    'shard.migration.committing',
    { moveChunk: 'app.things', find: { x: 0 }, to: 'shard02' },
    /^the cluster cannot be copied now: .*shard01 moves a range of app\.things to shard02/,
  )
  await held(
    'config.resharding.cloned',
    { reshardCollection: 'app.things', key: { _id: 1 }, numInitialChunks: 2 },
    /^the cluster cannot be copied now: .*app\.things is being resharded/,
  )
  await held(
    'shard.move-primary.cloned',
    { movePrimary: 'app', to: 'shard02' },
    /shard01 moves the database app to shard02/,
  )
  const fork = await forked(t, world)
  t.equal(await collectionOf(fork).countDocuments({}), 30)
})

t.test('what does not fit is refused in one sentence', async (t) => {
  const world = await start(t, { shards: 1 })
  const snapshot = await world.cluster.snapshot()
  const refused = (attempt: () => Promise<unknown>, says: RegExp): Promise<unknown> =>
    t.rejects(attempt, Object.assign(new OptionError(''), { message: says }))
  await refused(
    () => ShardedCluster.start({ from: snapshot, emulate: '4.0' }),
    /emulate is "4\.0", but the snapshot is of a cluster with "7\.0"/,
  )
  await refused(() => ShardedCluster.start({ from: snapshot, runtime: 'threads' }), /runtime is "threads"/)
  await refused(() => ShardedCluster.start({ from: snapshot, shards: 2 }), /shards is 2/)
  await refused(() => ShardedCluster.start({ from: snapshot, chunkSize: '1MB' }), /chunkSize comes from the snapshot/)
  await refused(() => ShardedCluster.start({ from: {} as never }), /invalid snapshot/)
  await refused(() => world.cluster.restore({} as never), /invalid snapshot/)
  const other = await ShardedCluster.start({ ...quiet, shards: 1, emulate: '4.4' })
  await refused(() => other.restore(snapshot), /this cluster has emulate "4\.4", the snapshot "7\.0"/)
  await other.stop()
  await refused(() => other.fork(), /has been stopped/)
  const threads = await ShardedCluster.start({ shards: 1 })
  await refused(
    () => threads.fork(),
    /only a cluster in the caller's thread can be copied and restored: start it with runtime: 'inline'/,
  )
  await threads.stop()
  const stopped = await ShardedCluster.start({ from: snapshot, runtime: 'inline', shards: 1 })
  await stopped.stop()
  t.same([...snapshot.members].sort(), ['balancer', 'config', 'mongos01', 'shard01'])
})

t.test('with a manual clock every copy does the same at the same time', async (t) => {
  const original = await start(t, { clock: 'manual', seed: 3 })
  await fill(original)
  const direct = await MongoClient.connect(original.cluster.shards[0]!.uri)
  await direct.db('admin').command({ setParameter: 1, orphanCleanupDelaySecs: 120 })
  await direct.close()
  await admin(original, { moveChunk: 'app.things', find: { x: 0 }, to: 'shard02' })
  await collectionOf(original).createIndex({ at: 1 }, { expireAfterSeconds: 100 })
  await collectionOf(original).insertOne({ _id: 'short', x: 1, at: new Date(original.cluster.now()) })
  await original.cluster.advance('90s')
  const snapshot = await original.cluster.snapshot()
  t.equal(snapshot.takenAtMs, original.cluster.now())

  const story = async (world: World): Promise<unknown[]> => {
    const { cluster } = world
    const told: unknown[] = []
    cluster.on('range-deleted', ({ atMs, shard, documents }) => void told.push([atMs, shard, documents]))
    const began = cluster.now()
    const { upsertedId } = await collectionOf(world).updateOne({ x: 29, z: 1 }, { $set: { z: 1 } }, { upsert: true })
    told.push(began, String(upsertedId))
    await cluster.advance('5s')
    told.push(await collectionOf(world).countDocuments({ _id: 'short' }))
    await cluster.advance('1m')
    told.push(await collectionOf(world).countDocuments({ _id: 'short' }), cluster.now())
    cluster.removeAllListeners('range-deleted')
    return told
  }
  const [one, two] = [await connected(t, await ShardedCluster.start({ from: snapshot })), await forked(t, original)]
  const expected = await story(one)
  t.match(expected, [snapshot.takenAtMs, String, 1, [Number, 'shard01', 10], 0, snapshot.takenAtMs + 65_000])
  const [, , , [deletedAtMs]] = expected as [number, string, number, [number]]
  t.equal(Math.floor((deletedAtMs - snapshot.takenAtMs) / 1000), 30, 'the timers of members are part of the snapshot')
  t.same(await story(two), expected)
  await original.cluster.advance('3m')
  await original.cluster.restore(snapshot)
  t.equal(original.cluster.now(), snapshot.takenAtMs, 'time has gone back')
  t.same(await story(original), expected)
})

t.test('copies share documents, indexes and what is on the disks', async (t) => {
  const world = await start(t)
  await fill(world)
  const text = 'x'.repeat(200_000)
  for (let i = 0; i < 5; i++)
    await collectionOf(world).insertMany(Array.from({ length: 20 }, (_, j) => ({ x: (i + j) % 30, text })))
  const held = () => process.memoryUsage().arrayBuffers
  const before = held()
  const snapshots = []
  for (let i = 0; i < 10; i++) {
    snapshots.push(await world.cluster.snapshot())
    await world.cluster.restore(snapshots[i]!)
  }
  const forks = [await world.cluster.fork(), await world.cluster.fork()]
  t.ok(held() - before < 10e6, `ten snapshots and two forks of 20 MB hold ${held() - before} bytes`)
  for (const fork of forks) await fork.stop()
})
