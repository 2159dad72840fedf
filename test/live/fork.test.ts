/** Forks of clusters that run next to their original, with unchanged drivers. */
import { Binary, Long } from '@shardlab/bson'
import { MongoClient, type Document } from 'mongodb'
import { randomBytes } from 'node:crypto'
import { ShardedCluster, type EmulatedVersion } from 'shardlab'
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
  start,
  through,
  type World,
} from './support/filled-cluster.js'

for (const emulate of ['2.6', '7.0', '8.0'] as const satisfies readonly EmulatedVersion[]) {
  t.test(`${emulate}: a fork equals its original, and runs independently`, async (t) => {
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
      t.match(refreshes, { countFullRefreshesStarted: 0 }, 'its router has the cached routes of the original')

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
    t.same((await placesOf(original))['shard01'], before['shard01'], 'a migration in one does not change the other')

    const hosts = (await fork.client.db('config').collection('shards').find().toArray()).map(
      ({ host }) => host.split('/')[1],
    )
    t.same(
      hosts,
      fork.cluster.shards.map(({ uri }) => uri.split('/')[2]),
      "its catalog has its members' addresses",
    )
    for (const { cluster } of [original, fork]) for (const { id } of cluster.shards) await cluster.crash(id)
    for (const { cluster } of [original, fork]) for (const { id } of cluster.shards) await cluster.restart(id)
    t.equal(await ours.countDocuments({ y: 7 }), 10, 'each recovers from a disk of its own')
    t.equal(await theirs.countDocuments({}), 21)
  })
}

t.test('a fork during writes has every acknowledged write once', async (t) => {
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
      t.equal(Math.max(...numbers, -1) + 1, numbers.length, 'of each writer the fork has a prefix of its inserts')
    }
  }
})

t.test('a copy has the same cached routing data as its original', async (t) => {
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
    t.equal(after['countStaleConfigErrors'] - before['countStaleConfigErrors'], 1, "the other router's cache is stale")
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
  t.match(await send(original, write), { nModified: 1 }, 'the original is not affected')
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

t.test('a member that is down is down in the fork and keeps its disk', async (t) => {
  const original = await start(t)
  await fill(original)
  for (const shard of ['shard02', 'shard03']) await original.cluster.faults.apply(`crash ${shard}`)
  const fork = await forked(t, original)
  t.same(fork.cluster.faults.list(), [], 'faults are not copied')
  t.equal(fork.cluster.members().find(({ address }) => address === 'shard02')!.state, 'crashed')
  await fork.cluster.restart('shard02')
  await fork.cluster.faults.apply('restart shard03')
  t.equal(await collectionOf(fork).countDocuments({}), 30)
  const config = fork.client.db('config').collection<{ _id: string; host: string }>('shards')
  for (const shard of ['shard02', 'shard03']) {
    const { endpoint } = fork.cluster.members().find(({ address }) => address === shard)!
    t.match(await config.findOne({ _id: shard }), { host: `${shard}/${endpoint}` }, 'its catalog has the new address')
  }
  await original.cluster.faults.heal()
  t.equal(await collectionOf(original).countDocuments({}), 30)
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

t.test('copies share documents, indexes and disk contents', async (t) => {
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
