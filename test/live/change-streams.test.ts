/** Change streams on a sharded collection, through the official driver. */
import t from 'tap'
import { Decimal128, Long, MongoClient, type ChangeStreamDocument, type Document } from 'mongodb'
import { ShardedCluster } from 'shardlab'

interface World {
  readonly cluster: ShardedCluster
  readonly client: MongoClient
}

async function world(
  t: { teardown(end: () => Promise<void>): void },
  options: Parameters<typeof ShardedCluster.start>[0] = {},
): Promise<World> {
  const cluster = await ShardedCluster.start({ shards: 3, runtime: 'inline', ...options })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  return { cluster, client }
}

/** Reads up to and with the insert of the document `{ _id: 'end' }`. */
async function untilEnd(client: MongoClient, options: Document, onEvent?: (event: ChangeStreamDocument) => void) {
  const stream = client.db('app').collection('c').watch([], options)
  const events: ChangeStreamDocument[] = []
  try {
    for await (const event of stream) {
      events.push(event)
      onEvent?.(event)
      if (event.operationType === 'insert' && event.documentKey._id === ('end' as never)) return events
    }
    return events
  } finally {
    await stream.close()
  }
}

t.test('a view has no change stream', async (t) => {
  const { client } = await world(t, { shards: 2 })
  await client.db('app').createCollection('v', { viewOn: 'c', pipeline: [] })
  await t.rejects(client.db('app').collection('v').watch().next(), { code: 166 })
})

t.test('updateLookup finds documents on the shard that has them now', async (t) => {
  const { client, cluster } = await world(t, { shards: 2 })
  const admin = client.db('admin')
  await admin.command({ shardCollection: 'app.c', key: { k: 1 } })
  await admin.command({ split: 'app.c', middle: { k: 0 } })
  const c = client.db('app').collection<{ _id: number; k: number; n?: number }>('c')
  const stream = c.watch([{ $match: { operationType: 'update' } }], { fullDocument: 'updateLookup' })
  await stream.tryNext()
  await c.insertMany([
    { _id: 1, k: -1 },
    { _id: 2, k: 1 },
  ])
  await c.updateMany({}, { $set: { n: 1 } })
  await admin.command({ moveChunk: 'app.c', find: { k: 1 }, to: cluster.shards[1]!.id })
  const found = [await stream.next(), await stream.next()].map(
    (event) => (event as Document)['fullDocument'] as Document,
  )
  t.same(
    found.toSorted((x, y) => x['_id'] - y['_id']),
    [
      { _id: 1, k: -1, n: 1 },
      { _id: 2, k: 1, n: 1 },
    ],
  )
  await stream.close()
})

t.test('a stream resumes after documents whose keys are numbers of any kind', async (t) => {
  const { client } = await world(t, { shards: 2 })
  await client.db('admin').command({ shardCollection: 'app.c', key: { k: 1 } })
  const c = client.db('app').collection<{ _id: unknown; k: unknown }>('c')
  const stream = c.watch()
  await stream.tryNext()
  const texts = ['0.1', '1E-320', '1E+300', '36028797018963969.5', '-2.50', 'Infinity', '9.99E+6144', '1E-6176']
  const keys = [1.5, -0.25, 1e300, 5e-324, 2 ** 53, Long.MAX_VALUE, ...texts.map((text) => Decimal128.fromString(text))]
  await c.insertMany(keys.map((k, _id) => ({ _id: _id + 0.5, k })))
  await c.insertOne({ _id: 'end', k: 1 })
  const events = []
  for (let i = 0; i <= keys.length; i++) events.push(await stream.next())
  await stream.close()
  for (let i = 0; i < keys.length; i++) {
    const resumed = c.watch([], { resumeAfter: events[i]!._id })
    t.same((await resumed.next())._id, events[i + 1]!._id, String(keys[i]))
    await resumed.close()
  }
})

t.test('streams on a database and on the cluster, and shards that join later', async (t) => {
  const { client, cluster } = await world(t, { shards: 1 })
  const onCluster = client.watch()
  const onDatabase = client.db('app').watch()
  await Promise.all([onCluster.tryNext(), onDatabase.tryNext()])
  await client.db('app').collection<{ _id: number }>('a').insertOne({ _id: 1 })
  await client.db('other').collection<{ _id: number }>('b').insertOne({ _id: 2 })
  t.match(await onDatabase.next(), { ns: { db: 'app', coll: 'a' }, documentKey: { _id: 1 } })
  t.match(await onCluster.next(), { ns: { db: 'app', coll: 'a' } })
  t.match(await onCluster.next(), { ns: { db: 'other', coll: 'b' } })
  const added = await cluster.addShard()
  await client.db('admin').command({ movePrimary: 'app', to: added.id })
  await client.db('app').collection<{ _id: number }>('a').insertOne({ _id: 3 })
  t.match(await onDatabase.next(), { operationType: 'insert', documentKey: { _id: 3 } })
  await client.db('app').dropDatabase()
  t.same((await onDatabase.next()).operationType, 'drop')
  t.same((await onDatabase.next()).operationType, 'dropDatabase')
  t.same((await onDatabase.next()).operationType, 'invalidate')
  await onCluster.close()
  await onDatabase.close()
})

for (const emulate of ['5.0', '7.0'] as const)
  t.test(`inserts have the document key of ${emulate === '5.0' ? 'now' : 'their time'} in ${emulate}`, async (t) => {
    const { client } = await world(t, { shards: 2, emulate })
    const admin = client.db('admin')
    const c = client.db('app').collection<{ _id: number | string; a: number; b: number }>('c')
    const stream = c.watch([], { maxAwaitTimeMS: 10 })
    await stream.tryNext()
    const start = stream.resumeToken
    await stream.close()
    const insert = async (from: number) => {
      await c.insertOne({ _id: from, a: 1, b: 1 })
      await c.insertMany([1, 2].map((i) => ({ _id: from + i, a: 1, b: i })))
      await c.updateOne({ _id: from + 3, a: 1, b: 1 }, { $set: { n: 1 } }, { upsert: true })
      await client.withSession((session) =>
        session.withTransaction(() => c.insertOne({ _id: from + 4, a: 1, b: 1 }, { session })),
      )
    }
    await insert(0)
    await c.createIndex({ a: 1, b: 1 })
    await admin.command({ enableSharding: 'app' })
    await admin.command({ shardCollection: 'app.c', key: { a: 1 } })
    await insert(10)
    await admin.command({ refineCollectionShardKey: 'app.c', key: { a: 1, b: 1 } })
    await insert(20)
    await c.insertOne({ _id: 'end', a: 0, b: 0 })
    const keys = (await untilEnd(client, { resumeAfter: start }))
      .slice(0, 15)
      .map((event) => Object.keys((event as { documentKey: Document }).documentKey).join())
    const refined = 'a,b,_id'
    const expected = emulate === '5.0' ? [refined, refined, refined] : ['_id', 'a,_id', refined]
    t.same(
      keys,
      expected.flatMap((each) => [each, each, each, each, each]),
    )
  })

t.test('expanded events report that a collection is sharded, and its new keys', async (t) => {
  const { client } = await world(t, { shards: 2 })
  const admin = client.db('admin')
  const c = client.db('app').collection<{ _id: number; a?: number }>('c')
  const stream = c.watch([], { showExpandedEvents: true })
  await stream.tryNext()
  await admin.command({ shardCollection: 'app.c', key: { a: 1 } })
  await c.createIndex({ a: 1, b: 1 })
  await admin.command({ refineCollectionShardKey: 'app.c', key: { a: 1, b: 1 } })
  await admin.command({ reshardCollection: 'app.c', key: { _id: 1 }, numInitialChunks: 1 })
  await c.insertOne({ _id: 1 })
  const events: Document[] = []
  while (events.at(-1)?.['operationType'] !== 'insert') events.push(await stream.next())
  const described = events.filter(({ operationDescription }) => operationDescription?.shardKey !== undefined)
  t.match(described, [
    { operationType: 'shardCollection', operationDescription: { shardKey: { a: 1 }, unique: false } },
    {
      operationType: 'refineCollectionShardKey',
      operationDescription: { shardKey: { a: 1, b: 1 }, oldShardKey: { a: 1 } },
    },
    { operationType: 'reshardCollection', operationDescription: { shardKey: { _id: 1 } } },
  ])
  t.equal(described.length, 3)
  t.equal(events.filter(({ operationType }) => operationType === 'create').length, 1)
  await stream.close()
})

t.test('a stream outlives the failover of a shard', async (t) => {
  const { client, cluster } = await world(t, { shards: 2, members: 3 })
  await client.db('admin').command({ shardCollection: 'app.c', key: { _id: 'hashed' } })
  const c = client.db('app').collection<{ _id: number }>('c')
  const stream = c.watch()
  await stream.tryNext()
  const insert = (from: number) =>
    c.insertMany(Array.from({ length: 20 }, (_, i) => ({ _id: from + i }))).then(() => from)
  await insert(0)
  await cluster.crash(`${cluster.shards[0]!.id}-1`)
  await insert(20)
  const seen: number[] = []
  while (seen.length < 40) seen.push(((await stream.next()) as { documentKey: { _id: number } }).documentKey._id)
  t.same(
    seen.toSorted((a, b) => a - b),
    Array.from({ length: 40 }, (_, i) => i),
  )
  await stream.close()
})

t.test('a driver resumes its stream after the errors of a router that say so, and after no others', async (t) => {
  const { client } = await world(t, { shards: 1 })
  const c = client.db('app').collection<{ _id: number }>('c')
  const admin = client.db('admin')
  await c.insertOne({ _id: 0 })
  const failing = async (errorCode: number) => {
    const mode = { times: 1 }
    await admin.command({ configureFailPoint: 'failGetMoreAfterCursorCheckout', mode, data: { errorCode } })
    const stream = c.watch()
    await (stream as unknown as { cursor: { cursorInit(): Promise<void> } }).cursor.cursorInit()
    await c.insertOne({ _id: errorCode })
    try {
      return ((await stream.next()) as { documentKey: { _id: number } }).documentKey._id
    } catch (error) {
      return error
    } finally {
      await stream.close()
    }
  }
  for (const code of [6, 91, 133, 234, 10_107, 13_388]) t.equal(await failing(code), code)
  for (const code of [216, 280]) t.match(await failing(code), { code })
})
