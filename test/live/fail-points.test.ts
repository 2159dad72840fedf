/** Fail points as drivers' tests use them: the driver retries, fails, or does not notice. */
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import {
  Long,
  MongoClient,
  MongoNetworkError,
  type Document,
  type MongoClientOptions,
  type MongoServerError,
} from 'mongodb'
import { failPointTable } from '@shardlab/member'
import { ShardedCluster } from 'shardlab'

const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline' })
t.teardown(() => cluster.stop())

/** A client with its own connections that records the commands it sends. */
async function connect(t: Test, options: MongoClientOptions = {}, uri = cluster.uri) {
  const client = new MongoClient(uri, { monitorCommands: true, serverSelectionTimeoutMS: 5_000, ...options })
  const sent: string[] = []
  client.on('commandStarted', ({ commandName }) => sent.push(commandName))
  await client.connect()
  const admin = client.db('admin')
  t.teardown(async () => {
    await admin.command({ configureFailPoint: 'failCommand', mode: 'off' }).catch(() => {})
    await client.close()
  })
  const configure = (mode: Document | string, data: Document = {}, name = 'failCommand') =>
    admin.command({ configureFailPoint: name, mode, data })
  const count = (name: string) => sent.filter((each) => each === name).length
  return {
    client,
    admin,
    configure,
    count,
    coll: client.db('test').collection<{ _id: number }>(t.name.replaceAll(/\W/g, '').slice(0, 40)),
  }
}

t.test('a retryable write survives a closed connection, and runs once', async (t) => {
  const { coll, configure, count } = await connect(t)
  await configure({ times: 1 }, { failCommands: ['insert'], closeConnection: true })
  await coll.insertOne({ _id: 1 })
  t.equal(count('insert'), 2)
  t.equal(await coll.countDocuments(), 1)

  await configure({ times: 2 }, { failCommands: ['insert'], closeConnection: true })
  await t.rejects(coll.insertOne({ _id: 2 }), MongoNetworkError, 'one retry is all there is')
  t.equal(await coll.countDocuments(), 1)
})

t.test('the driver retries a write only if the error has the label', async (t) => {
  const { coll, configure, count } = await connect(t)
  await configure({ times: 1 }, { failCommands: ['insert'], errorCode: 91, errorLabels: ['RetryableWriteError'] })
  await coll.insertOne({ _id: 1 })
  t.equal(count('insert'), 2)

  await configure({ times: 1 }, { failCommands: ['insert'], errorCode: 262 })
  const error = await coll.insertOne({ _id: 2 }).catch((error: MongoServerError) => error)
  t.match(error, { code: 262, codeName: 'ExceededTimeLimit', message: "Failing command via 'failCommand' failpoint" })
  t.notOk(
    (error as MongoServerError).hasErrorLabel('RetryableWriteError'),
    'a router that is not shutting down adds no label',
  )
  t.equal(count('insert'), 3)
})

t.test('a read that is retried once fails with times: 2', async (t) => {
  const { coll, configure, count } = await connect(t)
  await configure({ times: 2 }, { failCommands: ['find'], errorCode: 89 })
  await t.rejects(coll.findOne(), { code: 89 })
  t.equal(count('find'), 2)
  t.equal(await coll.findOne(), null, 'then it is over')
})

t.test('appName limits a fail point to one client', async (t) => {
  const meant = await connect(t, { appName: 'meant' })
  const other = await connect(t, { appName: 'other' })
  await meant.configure('alwaysOn', { failCommands: ['ping'], errorCode: 2, appName: 'meant' })
  await t.rejects(meant.admin.command({ ping: 1 }), { code: 2 })
  await other.admin.command({ ping: 1 })
})

t.test('namespace limits a fail point to one collection', async (t) => {
  const { client, configure } = await connect(t)
  await configure('alwaysOn', { failCommands: ['find'], errorCode: 2, namespace: 'test.meant' })
  await t.rejects(client.db('test').collection('meant').findOne(), { code: 2 })
  t.equal(await client.db('test').collection('other').findOne(), null)
})

t.test('a blocked command exceeds the socket timeout, and the driver retries', async (t) => {
  const { coll, configure, count } = await connect(t, { socketTimeoutMS: 60 })
  await configure({ times: 1 }, { failCommands: ['find'], blockConnection: true, blockTimeMS: 2_000 })
  t.equal(await coll.findOne(), null)
  t.equal(count('find'), 2)
})

t.test('maxTimeMS ends a blocked command on a router', async (t) => {
  const { coll, configure } = await connect(t)
  await configure({ times: 1 }, { failCommands: ['find'], blockConnection: true, blockTimeMS: 5_000 })
  await t.rejects(coll.findOne({}, { maxTimeMS: 20 }), { code: 50 })
})

t.test('a write concern error is reported although the write was applied', async (t) => {
  const { coll, configure } = await connect(t, { retryWrites: false })
  const writeConcernError = {
    code: 100,
    codeName: 'UnsatisfiableWriteConcern',
    errmsg: 'Not enough data-bearing nodes',
  }
  await configure({ times: 1 }, { failCommands: ['insert', 'find'], writeConcernError })
  t.equal(await coll.findOne(), null, 'a read has no write concern')
  await t.rejects(coll.insertOne({ _id: 1 }), { code: 100 })
  t.equal(await coll.countDocuments(), 1)
})

t.test('a labelled write concern error is retried, and the write runs once', async (t) => {
  const { coll, configure, count } = await connect(t)
  const writeConcernError = { code: 262, errmsg: 'too late' }
  await configure({ times: 1 }, { failCommands: ['insert'], writeConcernError, errorLabels: ['RetryableWriteError'] })
  t.match(await coll.insertOne({ _id: 1 }), { insertedId: 1 })
  t.equal(count('insert'), 2)
  t.equal(await coll.countDocuments(), 1)
})

t.test('the driver finds a router again whose hello failed', async (t) => {
  const { coll, configure, client } = await connect(t, { appName: 'heart', heartbeatFrequencyMS: 500 })
  const failed = new Promise<void>((resolve) => client.once('serverHeartbeatFailed', () => resolve()))
  await configure(
    { times: 2 },
    { failCommands: ['hello', 'isMaster', 'ismaster'], closeConnection: true, appName: 'heart' },
  )
  await coll.insertOne({ _id: 1 })
  await failed
  await coll.insertOne({ _id: 2 })
})

t.test('a mongod with a direct connection labels retryable errors', async (t) => {
  const [shard] = cluster.shards
  const { client, configure } = await connect(t, {}, shard!.uri)
  const session = client.startSession()
  t.teardown(() => session.endSession())
  await configure({ times: 1 }, { failCommands: ['insert'], errorCode: 262 })
  const insert = { insert: 'c', documents: [{ _id: 1 }], txnNumber: Long.fromNumber(1) }
  const error = await client
    .db('direct')
    .command(insert, { session })
    .catch((error: MongoServerError) => error)
  t.match(error, { code: 262, errorLabels: ['RetryableWriteError'] })
  await configure({ times: 1 }, { failCommands: ['insert'], errorCode: 262, errorLabels: [] })
  const silent = await client
    .db('direct')
    .command({ ...insert, txnNumber: Long.fromNumber(2) }, { session })
    .catch((error) => error)
  t.equal(silent.code, 262)
  t.notOk(silent.hasErrorLabel('RetryableWriteError'), 'an empty array: no labels')
})

t.test('D910 a migration waits at a step of its donor, and fails at another', async (t) => {
  const router = await connect(t)
  await router.admin.command({ shardCollection: 'shop.c', key: { _id: 1 } })
  await router.client.db('shop').collection<{ _id: number }>('c').insertOne({ _id: 1 })
  const owner = (await router.client.db('config').collection('chunks').findOne({}))!['shard'] as string
  const to = cluster.shards.find(({ id }) => id !== owner)!.id
  const { admin, configure } = await connect(t, {}, cluster.shards.find(({ id }) => id === owner)!.uri)
  const move = () => router.admin.command({ moveChunk: 'shop.c', find: { _id: 1 }, to })

  t.match(await configure('alwaysOn', {}, 'moveChunkHangAtStep4'), { count: 0 })
  const moving = move()
  await admin.command({ waitForFailPoint: 'moveChunkHangAtStep4', timesEntered: 1, maxTimeMS: 10_000 })
  t.equal((await router.client.db('config').collection('chunks').findOne({}))!['shard'], owner, 'no chunk has moved')
  await configure({ times: 1 }, {}, 'failMigrationCommit')
  t.match(await configure('off', {}, 'moveChunkHangAtStep4'), { count: 1 })
  await t.rejects(moving, /commit clone failed :: caused by :: Failing _recvChunkCommit due to failpoint/)
  t.equal((await router.client.db('config').collection('chunks').findOne({}))!['shard'], owner)
  await move()
  t.equal((await router.client.db('config').collection('chunks').findOne({}))!['shard'], to)

  await t.rejects(configure('off', {}, 'moveChunkHangAtStep7'), { code: 266 }, 'a point without a step here')
  await t.rejects(
    router.configure('off', {}, 'moveChunkHangAtStep4'),
    { code: 266 },
    "a router does not have a shard's fail points",
  )
})

t.test('D910 the coordinator of a resharding waits on the config server', async (t) => {
  const { client, admin } = await connect(t)
  await admin.command({ shardCollection: 'shop.r', key: { a: 1 } })
  const { map } = await admin.command({ getShardMap: 1 })
  const { admin: config } = await connect(
    t,
    {},
    `mongodb://${(map.config as string).split('/').at(-1)}/?directConnection=true`,
  )
  const name = 'reshardingPauseCoordinatorBeforeCloning'
  await config.command({ configureFailPoint: name, mode: 'alwaysOn' })
  const resharding = admin.command({ reshardCollection: 'shop.r', key: { b: 1 }, numInitialChunks: 1 })
  await config.command({ waitForFailPoint: name, timesEntered: 1, maxTimeMS: 10_000 })
  const [operation] = await client.db('config').collection('reshardingOperations').find().toArray()
  t.equal(operation?.['state'], 'preparing-to-donate')
  await config.command({ configureFailPoint: name, mode: 'off' })
  t.match(await resharding, { ok: 1 })
})

t.test('the guide names every fail point, with its step', async (t) => {
  const page = await readFile(new URL('../../../docs/guides/fail-points.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)`(?: \([\d.]+\))? \| `([a-z.-]+)` \|$/gm)].map(([, name, step]) => [
    name,
    step,
  ])
  t.same(
    rows,
    failPointTable.flatMap(({ name, step }) => (step === null ? [] : [[name, step]])),
  )
  for (const { name, step } of failPointTable) if (step === null && name !== 'dummy') t.ok(page.includes(name), name)
})

t.test('fail points apply to commands about users', async (t) => {
  const { admin, configure } = await connect(t)
  await configure('alwaysOn', { failCommands: ['createUser'], errorCode: 2 })
  await t.rejects(admin.command({ createUser: 'ada', pwd: 'x', roles: [] }), { code: 2 })
})
