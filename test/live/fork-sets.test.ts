/** Copies of clusters whose sets have several members, and of a standalone mongod. */
import { ClusterSnapshot, ShardedCluster, type ClusterOptions } from '@shardlab/cluster'
import { MongoClient } from 'mongodb'
import { join } from 'node:path'
import t, { type Test } from 'tap'

async function started(t: Test, cluster: Promise<ShardedCluster>): Promise<ShardedCluster> {
  const running = await cluster
  t.teardown(() => running.stop())
  return running
}

const start = (t: Test, options: ClusterOptions): Promise<ShardedCluster> =>
  started(t, ShardedCluster.start({ runtime: 'inline', seed: 1, ...options }))

async function connect(t: Test, uri: string): Promise<MongoClient> {
  const client = await MongoClient.connect(uri)
  t.teardown(() => client.close())
  return client
}

const rowsOf = (client: MongoClient) => client.db('shop').collection<{ _id: number }>('rows')
const idsOf = async (client: MongoClient): Promise<number[]> =>
  (await rowsOf(client).find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id)

t.test('a fork of a replica set has its data and its configuration, and addresses of its own', async (t) => {
  const cluster = await start(t, { topology: 'replica-set', members: [{}, { priority: 2 }, { priority: 0 }] })
  const client = await connect(t, cluster.uri)
  await rowsOf(client).insertMany([{ _id: 1 }, { _id: 2 }], { writeConcern: { w: 3 } })
  const fork = await started(t, cluster.fork())
  const copy = await connect(t, fork.uri)
  t.strictSame(await idsOf(copy), [1, 2])
  const { hosts, passives, setVersion } = await copy.db('admin').command({ hello: 1 })
  const own = fork.set!.members.map(({ uri }) => new URL(uri).host)
  t.strictSame([...(hosts as string[]), ...(passives as string[])], own)
  t.strictSame(setVersion, (await client.db('admin').command({ hello: 1 }))['setVersion'])
  await rowsOf(copy).insertOne({ _id: 3 }, { writeConcern: { w: 3 } })
  await rowsOf(client).insertOne({ _id: 4 }, { writeConcern: { w: 3 } })
  t.strictSame(
    [await idsOf(client), await idsOf(copy)],
    [
      [1, 2, 4],
      [1, 2, 3],
    ],
  )
  const elected = new Promise((resolve) => fork.on('election', ({ outcome }) => outcome === 'won' && resolve(outcome)))
  const { primary } = await copy.db('admin').command({ hello: 1 })
  await fork.crash(fork.set!.members.find(({ uri }) => uri.includes(primary as string))!.id)
  await elected
  await rowsOf(copy).insertOne({ _id: 5 }, { writeConcern: { w: 'majority' } })
})

t.test('a fork of a cluster with sets knows its own shards, and a member that was down joins it', async (t) => {
  const cluster = await start(t, { shards: 2, members: 3 })
  const client = await connect(t, cluster.uri)
  await client.db('admin').command({ shardCollection: 'shop.rows', key: { _id: 'hashed' } })
  const documents = Array.from({ length: 50 }, (_, _id) => ({ _id }))
  await rowsOf(client).insertMany(documents, { writeConcern: { w: 3 } })
  await cluster.crash('shard02-3')
  const fork = await started(t, cluster.fork())
  const copy = await connect(t, fork.uri)
  t.equal(await rowsOf(copy).countDocuments(), 50)
  const { shards } = (await copy.db('admin').command({ listShards: 1 })) as { shards: { _id: string; host: string }[] }
  const hostsOf = (id: string): string =>
    fork.shards
      .find((shard) => shard.id === id)!
      .members!.map(({ uri }) => new URL(uri).host)
      .join(',')
  t.equal(shards[0]!.host, `shard01/${hostsOf('shard01')}`)
  await rowsOf(copy).insertOne({ _id: 50 }, { writeConcern: { w: 'majority' } })
  await fork.restart('shard02-3')
  for (let i = 51; i < 60; i++) await rowsOf(copy).insertOne({ _id: i }, { writeConcern: { w: 3 } })
  const member = await connect(t, fork.shards[1]!.members![2]!.uri)
  const { me, hosts } = await member.db('admin').command({ hello: 1 })
  t.strictSame(
    [me, (hosts as string[]).join(',')],
    [new URL(fork.shards[1]!.members![2]!.uri).host, hostsOf('shard02')],
  )
  t.equal(await rowsOf(client).countDocuments(), 50)
})

t.test('a secondary of a fork asks for placements again, with the entries that it needs', async (t) => {
  const cluster = await start(t, { shards: 1, members: 3 })
  const client = await connect(t, cluster.uri)
  await client.db('admin').command({ shardCollection: 'shop.rows', key: { _id: 'hashed' } })
  await rowsOf(client).insertOne({ _id: 1 }, { writeConcern: { w: 3 } })
  const countOnSecondaries = (of: MongoClient) => rowsOf(of).countDocuments({}, { readPreference: 'secondary' })
  /** How many secondaries know the placement. */
  const informed = async (of: ShardedCluster): Promise<number> => {
    let count = 0
    for (const { uri } of of.shards[0]!.members!) {
      const admin = (await connect(t, uri)).db('admin')
      const { isWritablePrimary } = await admin.command({ hello: 1 })
      const { versions } = await admin.command({ shardingState: 1 })
      if (isWritablePrimary !== true && 'shop.rows' in versions) count++
    }
    return count
  }
  while ((await informed(cluster)) < 2) t.equal(await countOnSecondaries(client), 1)
  const fork = await started(t, cluster.fork())
  t.equal(await informed(fork), 0)
  t.equal(await countOnSecondaries(await connect(t, fork.uri)), 1)
  t.equal(await informed(fork), 1)
})

t.test('a cluster with sets returns to a snapshot, and its clients stay connected', async (t) => {
  const cluster = await start(t, { shards: 1, members: 3 })
  const client = await connect(t, cluster.uri)
  await rowsOf(client).insertOne({ _id: 1 }, { writeConcern: { w: 'majority' } })
  const snapshot = await cluster.snapshot()
  await rowsOf(client).insertOne({ _id: 2 }, { writeConcern: { w: 'majority' } })
  for (let i = 0; i < 2; i++) {
    await cluster.restore(snapshot)
    t.strictSame(await idsOf(client), [1])
    await rowsOf(client).insertOne({ _id: 3 }, { writeConcern: { w: 3 } })
    t.strictSame(await idsOf(client), [1, 3])
  }
})

t.test('a replica set returns to a snapshot, and its clients find the primary', async (t) => {
  const cluster = await start(t, { topology: 'replica-set', members: 3 })
  const client = await connect(t, cluster.uri)
  await rowsOf(client).insertOne({ _id: 1 }, { writeConcern: { w: 'majority' } })
  const snapshot = await cluster.snapshot()
  await client.db('admin').command({ replSetStepDown: 10 })
  await rowsOf(client).insertOne({ _id: 2 }, { writeConcern: { w: 'majority' } })
  await cluster.restore(snapshot)
  t.strictSame(await idsOf(client), [1])
  await rowsOf(client).insertOne({ _id: 3 }, { writeConcern: { w: 3 } })
})

t.test('a snapshot file has the sets of a cluster', async (t) => {
  const cluster = await start(t, { shards: 1, members: 3, sets: { config: 1 } })
  const client = await connect(t, cluster.uri)
  await rowsOf(client).insertOne({ _id: 1 }, { writeConcern: { w: 3 } })
  const path = join(t.testdir(), 'sets.snapshot')
  await (await cluster.snapshot()).save(path)
  const other = await started(t, ShardedCluster.start({ from: await ClusterSnapshot.load(path) }))
  const copy = await connect(t, other.uri)
  t.strictSame(await idsOf(copy), [1])
  await rowsOf(copy).insertOne({ _id: 2 }, { writeConcern: { w: 3 } })
})

t.test('a fork of a standalone mongod', async (t) => {
  const cluster = await start(t, { topology: 'standalone' })
  const client = await connect(t, cluster.uri)
  await rowsOf(client).insertOne({ _id: 1 })
  const copy = await connect(t, (await started(t, cluster.fork())).uri)
  await rowsOf(copy).insertOne({ _id: 2 })
  t.strictSame([await idsOf(client), await idsOf(copy)], [[1], [1, 2]])
})

t.test('a fork taken under load has every write that was acknowledged before', async (t) => {
  const cluster = await start(t, { shards: 2, members: 3 })
  const client = await connect(t, cluster.uri)
  await client.db('admin').command({ shardCollection: 'shop.rows', key: { _id: 'hashed' } })
  const acknowledged: number[] = []
  let isOver = false
  const write = async (writer: number): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const _id = writer * 1_000_000 + i
      await rowsOf(client).insertOne({ _id }, { writeConcern: { w: 'majority' } })
      acknowledged.push(_id)
    }
  }
  const writers = Array.from({ length: 8 }, (_, writer) => write(writer))
  for (let round = 1; round <= 3; round++) {
    while (acknowledged.length < 50 * round) await rowsOf(client).findOne({ _id: 0 })
    const before = [...acknowledged]
    await using fork = await cluster.fork()
    const copy = await MongoClient.connect(fork.uri)
    const found = new Set(await idsOf(copy))
    t.strictSame(
      before.filter((_id) => !found.has(_id)),
      [],
    )
    await copy.close()
  }
  isOver = true
  await Promise.all(writers)
})

t.test('with a manual clock, a fork of a set has the time of its original', async (t) => {
  const cluster = await start(t, { topology: 'replica-set', members: 3, clock: 'manual' })
  const client = await connect(t, cluster.uri)
  await rowsOf(client).insertOne({ _id: 1 }, { writeConcern: { w: 3 } })
  await cluster.advance('1h')
  const fork = await started(t, cluster.fork())
  t.ok(Math.abs(fork.now() - cluster.now()) < 60_000, 'the fork elects its primary within a minute')
  const copy = await connect(t, fork.uri)
  await rowsOf(copy).insertOne({ _id: 2 }, { writeConcern: { w: 'majority' } })
  t.strictSame([await idsOf(client), await idsOf(copy)], [[1], [1, 2]])
})
