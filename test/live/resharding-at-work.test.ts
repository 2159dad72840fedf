/**
 * A collection is resharded while applications work: which operations succeed, and what clients
 * see.
 */
import t from 'tap'
import { randomBytes } from 'node:crypto'
import { Binary, Long } from '@shardlab/bson'
import { MongoClient, type Document } from 'mongodb'
import { RawClient } from '../support/raw-client.js'
import { codeOf, ReshardingWorld, type Numbered } from './support/resharding-world.js'

t.test('during a resharding, conflicting commands fail or wait', async (t) => {
  const world = await ReshardingWorld.start(t)
  const { app } = world
  await world.shard('c', 300)
  await world.admin({ enableSharding: 'apart' })
  await world.admin({ shardCollection: 'apart.other', key: { k: 1 } })
  await app.collection('c').createIndex({ n: 1 })
  await world.linger()
  const started = world.admin({ reshardCollection: 'app.c', key: { m: 1 }, numInitialChunks: 6 })
  const failed = codeOf(started)
  await world.untilState('app.c', 'applying')
  const { uuid } = (await world.entry('app.c'))!
  const tempNs = `app.system.resharding.${uuid.toString()}`
  t.same((await world.entry(tempNs))!['reshardingFields'].recipientFields.sourceNs, 'app.c')
  t.equal((await world.config.collection('reshardingOperations').findOne({}))!['tempNs'], tempNs)
  t.equal(await codeOf(app.collection('c').createIndex({ x: 1 })), 338)
  t.equal(await codeOf(app.collection('c').createIndex({ n: 1 })), 'ok', 'an existing index is not a change')
  const waiting = [
    codeOf(app.collection('c').dropIndex('n_1')),
    codeOf(app.command({ collMod: 'c', validator: { n: { $gte: 0 } } })),
  ]
  t.equal(await codeOf(world.admin({ moveChunk: 'app.c', find: { k: 0 }, to: 'shard03' })), 117)
  t.equal(await codeOf(world.admin({ reshardCollection: 'apart.other', key: { m: 1 }, numInitialChunks: 2 })), 338)
  t.equal(await codeOf(world.admin({ reshardCollection: 'app.c', key: { n: 1 } })), 117)
  const operations = await world.client
    .db('admin')
    .aggregate([{ $currentOp: { allUsers: true } }, { $match: { 'originatingCommand.reshardCollection': 'app.c' } }])
    .toArray()
  const donors = operations.filter(({ donorState }) => donorState !== undefined)
  const recipients = operations.filter(({ recipientState }) => recipientState !== undefined)
  t.same(donors.map(({ shard, donorState }) => [shard, donorState]).sort(), [
    ['shard01', 'donating-oplog-entries'],
    ['shard02', 'donating-oplog-entries'],
  ])
  t.same(recipients.map(({ shard, recipientState }) => [shard, recipientState]).sort(), [
    ['shard01', 'applying'],
    ['shard02', 'applying'],
    ['shard03', 'applying'],
  ])
  t.equal(
    recipients.reduce((sum, { documentsCopied }) => sum + Number(documentsCopied), 0),
    300,
  )
  t.match(donors[0], { type: 'op', desc: /^ReshardingMetricsDonorService /, op: 'command', ns: 'app.c' })
  const joined = codeOf(world.admin({ reshardCollection: 'app.c', key: { m: 1 }, numInitialChunks: 6 }))
  await world.admin({ abortReshardCollection: 'app.c' })
  t.equal(await failed, 341)
  t.equal(await joined, 341, 'an equal request joined the running resharding')
  t.same(await Promise.all(waiting), ['ok', 'ok'], 'other changes of the definition wait for the lock')
  t.same((await world.entry('app.c'))!['key'], { k: 1 })
  t.equal(await world.entry(tempNs), null)
  t.equal(await codeOf(app.collection('c').createIndex({ x: 1 })), 'ok')
  t.equal(await codeOf(world.admin({ moveChunk: 'app.c', find: { k: 0 }, to: 'shard03' })), 'ok')
  const again = world.admin({ reshardCollection: 'app.c', key: { m: 1 }, numInitialChunks: 6 })
  await world.untilState('app.c', 'applying')
  // Other changes of the definition wait.
  const order: string[] = []
  const dropped = app.command({ drop: 'c' }).then(() => order.push('dropped'))
  await world.admin({ commitReshardCollection: 'app.c' })
  t.equal((await again.finally(() => order.push('resharded')))['ok'], 1, 'it need not wait')
  await dropped
  t.same(order, ['resharded', 'dropped'])
  t.equal(await world.entry('app.c'), null)
})

t.test('a critical section that lasts too long aborts the resharding', async (t) => {
  const world = await ReshardingWorld.start(t, { shards: 2 })
  await world.shard('c', 100)
  const config = await world.direct('config')
  await config.db('admin').command({ setParameter: 1, reshardingCriticalSectionTimeoutMillis: 0 })
  t.equal(await codeOf(world.admin({ reshardCollection: 'app.c', key: { m: 1 }, numInitialChunks: 2 })), 342)
  t.same((await world.entry('app.c'))!['key'], { k: 1 })
  t.equal((await world.app.collection('c').updateOne({ k: 1 }, { $set: { n: 1 } })).modifiedCount, 1, 'no client waits')
})

t.test('D834 a retryable write from before the commit does not run again after it', async (t) => {
  const world = await ReshardingWorld.start(t)
  await world.shard('c', 200)
  const raw = await RawClient.connect(world.cluster.mongos[0]!)
  t.teardown(() => raw.close())
  const lsid = { id: new Binary(randomBytes(16), 4) }
  const update = {
    update: 'c',
    updates: [{ q: { k: 5 }, u: { $inc: { n: 1 } } }],
    lsid,
    txnNumber: Long.fromNumber(1),
    $db: 'app',
  }
  t.equal((await raw.command(update))['nModified'], 1)
  const insert = {
    insert: 'c',
    documents: [{ _id: 900, k: 900, m: 900, n: 0 }],
    lsid,
    txnNumber: Long.fromNumber(2),
    $db: 'app',
  }
  t.equal((await raw.command(insert))['n'], 1)
  await world.admin({ reshardCollection: 'app.c', key: { m: 1 }, numInitialChunks: 6 })
  const repeated = await raw.command(insert)
  t.equal(repeated['n'], 1)
  t.notOk('writeErrors' in repeated)
  t.equal(await world.app.collection<Numbered>('c').countDocuments({ _id: 900 }), 1)
})

t.test('clients of two routers read and write without errors during a resharding', async (t) => {
  const world = await ReshardingWorld.start(t, { mongos: 2 })
  const count = 1500
  await world.shard('c', count)
  const second = await MongoClient.connect(`mongodb://${world.cluster.mongos[1]!}/`)
  t.teardown(() => second.close())
  const collections = [world.client, second].map((client) => client.db('app').collection<Numbered>('c'))
  let working = true
  let scans = 0
  const increments = new Map<number, number>()
  const added: number[] = []
  const removed: number[] = []
  // Documents from here on may move; a scan of several shards at different times may miss or repeat
  // them.
  const firstMoving = count - 400
  /** The new key's value of a document, once its writer has changed it. */
  const values = new Map<number, number>()
  const writer = async (number: number) => {
    const collection = collections[number % 2]!
    for (let i = 0; working; i++) {
      const key = (i * 4 + number) % firstMoving
      const moving = firstMoving + ((i * 4 + number) % 200)
      await collection.updateOne({ _id: key, k: key }, { $inc: { n: 1 } })
      increments.set(key, (increments.get(key) ?? 0) + 1)
      // The document's new key changes, before and after the commit.
      if (i % 5 === 0) {
        const m = (i * 31) % count
        await collection.updateOne({ k: moving, m: values.get(moving) ?? (moving * 7919) % count }, { $set: { m } })
        values.set(moving, m)
      }
      if (i % 3 === 0) {
        const _id = 10_000 + i * 4 + number
        await collection.insertOne({ _id, k: _id, m: i % count, n: 0 })
        added.push(_id)
      }
      if (i % 7 === 0 && removed.length < 150) {
        const _id = count - 1 - removed.length
        removed.push(_id)
        await collection.deleteOne({ _id, k: _id })
      }
    }
  }
  const reader = async (number: number) => {
    const collection = collections[number % 2]!
    while (working) {
      // In one batch: the commit closes cursors on the old collection, as on the server.
      const found = await collection
        .find({ _id: { $lt: firstMoving } }, { projection: { _id: 1 }, batchSize: 5000 })
        .toArray()
      const ids = new Set(found.map(({ _id }) => _id))
      if (found.length !== ids.size) throw new Error('a document was seen twice')
      if (ids.size !== firstMoving) throw new Error(`${ids.size} documents were seen`)
      scans++
    }
  }
  const workers = Promise.all([...[0, 1, 2, 3].map(writer), ...[0, 1].map(reader)])
  await world.admin({ reshardCollection: 'app.c', key: { m: 1 }, numInitialChunks: 6 })
  await world.admin({ reshardCollection: 'app.c', key: { k: 'hashed' }, numInitialChunks: 6 })
  working = false
  await workers
  t.ok(scans > 0)
  const found = new Map((await collections[0]!.find().toArray()).map((document) => [document._id, document]))
  t.equal(await collections[1]!.countDocuments({}), found.size, 'no document is there twice')
  t.equal(found.size, count + added.length - removed.length)
  for (const [key, times] of increments)
    if (found.get(key)?.n !== times) t.fail(`${key} was incremented ${found.get(key)?.n} times, not ${times}`)
})

t.test('D835 a resharding has no minimum duration by default', async (t) => {
  const world = await ReshardingWorld.start(t, { shards: 2 })
  const config = await world.direct('config')
  const parameter = await config.db('admin').command({ getParameter: 1, reshardingMinimumOperationDurationMillis: 1 })
  t.equal(parameter['reshardingMinimumOperationDurationMillis'], 0)
})

t.test('D836 an array that is written into the new key aborts the resharding', async (t) => {
  const world = await ReshardingWorld.start(t, { shards: 2 })
  await world.shard('c', 100)
  await world.linger()
  const failed = codeOf(world.admin({ reshardCollection: 'app.c', key: { m: 1 }, numInitialChunks: 2 }))
  await world.untilState('app.c', 'applying')
  await world.app.collection<Document>('c').insertOne({ _id: 'array' as never, k: 1, m: [1] })
  await world.admin({ commitReshardCollection: 'app.c' })
  t.equal(await failed, 61)
  t.equal(await world.app.collection('c').countDocuments({}), 101)
})

t.test('D837 the coordinator and the donors record the resharding', async (t) => {
  const world = await ReshardingWorld.start(t, { shards: 2 })
  await world.shard('c', 100)
  await world.linger()
  const resharded = world.admin({ reshardCollection: 'app.c', key: { m: 1 }, numInitialChunks: 2 })
  await world.untilState('app.c', 'applying')
  const operation = (await world.config.collection('reshardingOperations').findOne({}))!
  t.match(operation, {
    ns: 'app.c',
    reshardingKey: { m: 1 },
    state: 'applying',
    active: true,
    request: { reshardCollection: 'app.c' },
  })
  const donor = (await (
    await world.direct('shard01')
  )
    .db('config')
    .collection('localReshardingOperations.donor')
    .findOne({}))!
  t.match(donor, { ns: 'app.c', reshardingKey: { m: 1 }, recipientShards: ['shard01', 'shard02'] })
  t.ok('attempt' in donor)
  await world.admin({ commitReshardCollection: 'app.c' })
  await resharded
})
