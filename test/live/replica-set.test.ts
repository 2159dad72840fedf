/** A replica set without sharding, as the driver sees it. */
import { ShardedCluster, type ClusterOptions } from '@shardlab/cluster'
import { MongoClient, ReadPreference, type Document } from 'mongodb'
import t, { type Test } from 'tap'
import { failoverParts } from '../support/failover-parts.js'
import { fileURLToPath } from 'node:url'
import { RawClient } from '../support/raw-client.js'
import { run } from '../support/up.js'

const python = '/usr/bin/python3'
const scriptOf = (name: string): string => fileURLToPath(new URL(`../../clients/scripts/${name}`, import.meta.url))

async function start(t: Test, options: ClusterOptions = {}): Promise<{ cluster: ShardedCluster; client: MongoClient }> {
  const cluster = await ShardedCluster.start({ topology: 'replica-set', runtime: 'inline', seed: 1, ...options })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  return { cluster, client }
}

for (const runtime of ['inline', 'threads'] as const) {
  t.test(`${runtime}: a driver finds the set, writes to its primary and reads from secondaries`, async (t) => {
    const { cluster, client } = await start(t, { runtime, setName: 'app' })
    t.match(cluster.set, { name: 'app', members: [{ id: 'app-1' }, { id: 'app-2' }, { id: 'app-3' }] })
    t.match(cluster.uri, /^mongodb:\/\/[\d.:]+,[\d.:]+,[\d.:]+\/\?replicaSet=app$/)
    const rows = client.db('shop').collection<{ _id: number }>('rows')
    await rows.insertOne({ _id: 1 }, { writeConcern: { w: 3 } })
    t.strictSame(await rows.find({}, { readPreference: ReadPreference.SECONDARY }).toArray(), [{ _id: 1 }])
    const { members } = await client.db('admin').command({ replSetGetStatus: 1 })
    t.strictSame(
      (members as { stateStr: string }[]).map(({ stateStr }) => stateStr),
      ['PRIMARY', 'SECONDARY', 'SECONDARY'],
    )
  })
}

for (const [emulate, isClosed] of [
  ['2.6', true],
  ['4.0', true],
  ['4.4', false],
] as const)
  t.test(`a step-down ${isClosed ? 'closes' : 'keeps'} the connections of clients under ${emulate}`, async (t) => {
    const { client } = await start(t, { emulate })
    const primary = (await client.db('admin').command({ isMaster: 1 }))['primary'] as string
    const [admin, other] = await Promise.all([RawClient.connect(primary), RawClient.connect(primary)])
    t.teardown(() => [admin, other].forEach((each) => each.close()))
    const answer = (from: RawClient, command: Document): Promise<unknown> =>
      from.command({ ...command, $db: 'admin' }).then(
        ({ ok }) => ok as unknown,
        () => 'closed',
      )
    t.equal(await answer(other, { ping: 1 }), 1)
    t.equal(await answer(admin, { replSetStepDown: 60, force: true }), isClosed ? 'closed' : 1)
    if (isClosed) await other.closed()
    else t.equal(await answer(other, { ping: 1 }), 1)
    await using again = await MongoClient.connect(`mongodb://${primary}/?directConnection=true`)
    t.equal((await again.db('admin').command({ ping: 1 }))['ok'], 1, 'it can connect again')
  })

t.test('no error reaches an application whose primary steps down while it writes', async (t) => {
  const { client } = await start(t)
  const rows = client.db('shop').collection<{ _id: number }>('rows')
  const acknowledged: number[] = []
  let isOver = false
  const write = async (writer: number): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const _id = writer * 1_000_000 + i
      await rows.insertOne({ _id }, { writeConcern: { w: 'majority' } })
      acknowledged.push(_id)
    }
  }
  const writers = Array.from({ length: 16 }, (_, writer) => write(writer))
  while (acknowledged.length < 100) await rows.findOne({})
  await client.db('admin').command({ replSetStepDown: 10 })
  const before = acknowledged.length
  while (acknowledged.length < before + 200) await rows.findOne({})
  isOver = true
  await Promise.all(writers)
  t.equal(await rows.countDocuments({}, { readPreference: 'primary' }), acknowledged.length)
  t.match(await client.db('admin').command({ hello: 1 }), { isWritablePrimary: true })
})

t.test('a member that crashed takes part again, and has what was written meanwhile', async (t) => {
  const { cluster, client } = await start(t)
  const rows = client.db('shop').collection<{ _id: number }>('rows')
  await rows.insertOne({ _id: 1 }, { writeConcern: { w: 'majority' } })
  const elected = new Promise((resolve) =>
    cluster.on('election', ({ outcome }) => outcome === 'won' && resolve(outcome)),
  )
  await cluster.crash('rs0-1')
  await elected
  await rows.insertOne({ _id: 2 }, { writeConcern: { w: 'majority' } })
  await cluster.restart('rs0-1')
  await rows.insertOne({ _id: 3 }, { writeConcern: { w: 3 } })
  const alone = await MongoClient.connect(cluster.set!.members[0]!.uri)
  t.teardown(() => alone.close())
  const found = await alone
    .db('shop')
    .collection('rows')
    .find({}, { sort: { _id: 1 }, readPreference: 'secondaryPreferred' })
    .toArray()
  t.strictSame(found, [{ _id: 1 }, { _id: 2 }, { _id: 3 }])
})

t.test('a set of one member, and wrong options', async (t) => {
  const { client } = await start(t, { members: 1 })
  t.match(
    await client
      .db('shop')
      .collection('rows')
      .insertOne({}, { writeConcern: { w: 'majority' } }),
    {
      acknowledged: true,
    },
  )
  const wrong: readonly (readonly [ClusterOptions, RegExp])[] = [
    [{ topology: 'replica-set', members: 8 }, /^members is 8; it must be a whole number from 1 to 7, or a list/],
    [{ topology: 'replica-set', shards: 2 }, /^shards is an option of a sharded cluster: remove it, or topology/],
    [{ topology: 'replica-set', setName: '' }, /^setName is "", which cannot be the name of a replica set/],
    [{ topology: 'ring' as 'sharded' }, /^topology is "ring"; use sharded, replica-set, standalone\.$/],
    [{ setName: 'app' }, /^setName needs topology: 'replica-set'/],
  ]
  for (const [options, message] of wrong) await t.rejects(ShardedCluster.start(options), { message })
})

t.test('a replica set takes no shards', async (t) => {
  const { cluster } = await start(t, { members: 1 })
  await t.rejects(cluster.addShard(), { message: /^cannot add a shard: this is a replica set without sharding/ })
})

t.test('no error reaches an application behind a router when the primary of a shard crashes', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, members: 3, runtime: 'inline', seed: 1 })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  t.match(cluster.shards[0], {
    id: 'shard01',
    members: [{ id: 'shard01-1' }, { id: 'shard01-2' }, { id: 'shard01-3' }],
  })
  const admin = client.db('admin')
  await admin.command({ enableSharding: 'shop', primaryShard: 'shard01' })
  await admin.command({ shardCollection: 'shop.rows', key: { _id: 'hashed' } })
  const rows = client.db('shop').collection<{ _id: number }>('rows')
  const acknowledged: number[] = []
  let isOver = false
  const write = async (writer: number): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const _id = writer * 1_000_000 + i
      await rows.insertOne({ _id }, { writeConcern: { w: 'majority' } })
      acknowledged.push(_id)
    }
  }
  const writers = Array.from({ length: 16 }, (_, writer) => write(writer))
  while (acknowledged.length < 50) await rows.findOne({ _id: 0 })
  const crashedAtMs = Date.now()
  await cluster.crash('shard01-1')
  await client
    .db('shop')
    .collection('unsharded')
    .insertOne({}, { writeConcern: { w: 'majority' } })
  const writtenAtMs = Date.now()
  const parts = await failoverParts({ crashedAtMs, writtenAtMs, setUri: cluster.shards[0]!.uri })
  t.match(
    parts,
    /^\d+ ms to a new primary: \d+ ms until a member is elected, \d+ ms until its first entry, \d+ ms until a majority has it, \d+ ms until a client has a write$/,
  )
  t.comment(parts)
  const before = acknowledged.length
  while (acknowledged.length < before + 100) await rows.findOne({ _id: 0 })
  isOver = true
  await Promise.all(writers)
  const found = new Set((await rows.find().toArray()).map(({ _id }) => _id))
  t.strictSame(
    acknowledged.filter((_id) => !found.has(_id)),
    [],
  )
})

t.test('PyMongo works with shards of three members, and with the set of one of them', async (t) => {
  const { code } = await run(python, ['-c', 'import pymongo']).catch(() => ({ code: 1 }))
  if (code !== 0) return void t.pass('PyMongo', { skip: "Debian's python3-pymongo is not installed" })
  const cluster = await ShardedCluster.start({ shards: 2, members: 3, runtime: 'inline' })
  t.teardown(() => cluster.stop())
  for (const args of [
    [scriptOf('crud.py'), cluster.uri, 'py'],
    [scriptOf('set.py'), cluster.shards[0]!.uri],
  ])
    t.match(await run(python, args), { code: 0, stdout: 'fine\n', stderr: '' })
})

for (const emulate of ['4.0', '4.4', '8.0'] as const)
  t.test(`${emulate}: cursors of a driver outlast the step-down of their member`, async (t) => {
    const { client } = await start(t, { emulate })
    const rows = client.db('shop').collection<{ _id: number }>('rows')
    const wanted = Array.from({ length: 20 }, (_, _id) => ({ _id }))
    await rows.insertMany(wanted, { writeConcern: { w: 3 } })
    const cursor = rows.find({}, { batchSize: 2, sort: { _id: 1 } })
    const found = [await cursor.next()]
    const { me } = await client.db('admin').command({ hello: 1 })
    const steppedDown = client.db('admin').command({ replSetStepDown: 60 })
    if (emulate === '4.0') await t.rejects(steppedDown, { name: 'MongoNetworkError' })
    else await steppedDown
    // Before 4.4 a driver may not know yet that the member is no primary any more.
    const insert = () => rows.insertOne({ _id: 20 }, { writeConcern: { w: 'majority' } })
    const isRetried = ({ code, name }: { code?: number; name: string }) =>
      code === 10_107 || name === 'MongoNetworkError'
    while (!(await insert().then(Boolean, (error: { code?: number; name: string }) => !isRetried(error))));
    t.not((await client.db('admin').command({ hello: 1 }))['me'], me)
    found.push(...(await cursor.toArray()))
    t.strictSame(
      found.filter((each) => each!._id < 20),
      wanted,
    )
  })
