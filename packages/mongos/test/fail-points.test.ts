import t from 'tap'
import { Long, UUID, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import { FakeCluster } from './support/fake-cluster.js'
import { RealCluster } from './support/real-cluster.js'

const lsid = { id: new UUID('00000000-0000-4000-8000-000000000001') }
const admin = { $db: 'admin' }

const failCommand = (cluster: FakeCluster, data: Document, mode: unknown = 'alwaysOn') =>
  cluster.run({ configureFailPoint: 'failCommand', mode, data, ...admin })

t.test('failCommand on a router fails a command before any shard is asked', async (t) => {
  const cluster = await RealCluster.create()
  await failCommand(cluster, { failCommands: ['insert'], errorCode: 189 }, { times: 1 })
  const insert = { insert: 'c', documents: [{ _id: 1, x: 1 }], lsid, txnNumber: Long.ONE }
  const failed = await cluster.run(insert)
  t.match(failed, { code: 189, codeName: 'PrimarySteppedDown' })
  t.notOk('errorLabels' in failed, 'a router puts no label on what is not its own end')
  t.equal(cluster.countOf('insert'), 0)
  t.match(await cluster.run(insert), { n: 1 })
  await failCommand(cluster, { failCommands: ['insert'], closeConnection: true }, { times: 1 })
  t.equal((await cluster.runRaw(insert)).length, 0, 'no answer')
})

t.test('failCommand spares the writes of a pipeline, which no client sent', async (t) => {
  const cluster = await RealCluster.create()
  await cluster.run({
    insert: 'c',
    documents: [
      { _id: 1, x: 1 },
      { _id: 2, x: 200 },
    ],
  })
  await failCommand(cluster, { failCommands: ['insert', 'update', 'bulkWrite'], errorCode: 2 })
  t.match(await cluster.run({ aggregate: 'c', pipeline: [{ $merge: { into: 'copy' } }], cursor: {} }), { ok: 1 })
  t.equal((await cluster.all('copy')).length, 2)
})

t.test('a blocked command ends with its maxTimeMS', async (t) => {
  const cluster = new FakeCluster()
  await failCommand(cluster, { failCommands: ['ping'], blockConnection: true, blockTimeMS: 5000 })
  const before = cluster.world.nowMs
  t.match(await cluster.run({ ping: 1, maxTimeMS: 40 }), { code: 50, codeName: 'MaxTimeMSExpired' })
  t.equal(cluster.world.nowMs - before, 40)
  t.match(await cluster.run({ ping: 1 }), { ok: 1 })
  t.equal(cluster.world.nowMs - before, 5040)
})

t.test('a blocked getMore continues after its maxTimeMS, which limits waiting only', async (t) => {
  const cluster = await RealCluster.create()
  await cluster.run({ create: 'log', capped: true, size: 4096 })
  await cluster.run({ insert: 'log', documents: [{ _id: 1 }, { _id: 2 }] })
  const { cursor } = await cluster.run({ find: 'log', tailable: true, awaitData: true, batchSize: 1 })
  await failCommand(cluster, { failCommands: ['getMore'], blockConnection: true, blockTimeMS: 5000 })
  const before = cluster.world.nowMs
  t.match(await cluster.run({ getMore: cursor.id, collection: 'log', maxTimeMS: 40, batchSize: 1 }), {
    ok: 1,
    cursor: { nextBatch: [{ _id: 2 }] },
  })
  t.equal(cluster.world.nowMs - before, 5000)
})

t.test('a router before 4.2 has no failCommand', async (t) => {
  t.match(await failCommand(new FakeCluster({ emulate: '4.0' }), {}, 'off'), { code: 266 })
  t.match(await failCommand(new FakeCluster({ emulate: '4.4' }), {}, 'off'), { ok: 1, count: 0 })
})

t.test('failGetMoreAfterCursorCheckout fails a getMore and closes its cursor', async (t) => {
  const cluster = await RealCluster.create()
  await cluster.run({ insert: 'c', documents: [1, 2, 3].map((_id) => ({ _id, x: _id })) })
  await cluster.run({
    configureFailPoint: 'failGetMoreAfterCursorCheckout',
    mode: { times: 1 },
    data: { errorCode: 280 },
    ...admin,
  })
  const { cursor } = await cluster.run({ find: 'c', batchSize: 1 })
  const getMore = { getMore: cursor.id, collection: 'c' }
  t.match(await cluster.run(getMore), { code: 280 })
  t.match(await cluster.run(getMore), { code: 43 })
})

async function heard(emulate: EmulatedVersion, error: Document) {
  const cluster = new FakeCluster({ emulate })
  cluster.databases.set('test', { primary: 'shard01', lastMod: 1 })
  cluster.script(() => ({ ok: 0, ...error }))
  const { code, codeName, errmsg } = await cluster.run({ count: 'c' })
  const { writeErrors } = await cluster.run({ insert: 'c', documents: [{ _id: 1 }] })
  return { code, codeName, errmsg, writeError: writeErrors[0].code }
}

t.test('the shutdown or step-down of a shard reaches clients as HostUnreachable', async (t) => {
  const shutdown = { code: 91, codeName: 'ShutdownInProgress', errmsg: 'not master and going' }
  const hidden = { code: 6, codeName: 'HostUnreachable', writeError: 6 }
  t.match(await heard('5.0', shutdown), { ...hidden, errmsg: '(NOT_PRIMARY) and going' })
  t.match(await heard('8.0', { code: 11602, codeName: 'InterruptedDueToReplStateChange', errmsg: 'x' }), hidden)
  t.match(await heard('4.4', shutdown), { code: 91, codeName: 'ShutdownInProgress', writeError: 91 })
  t.match(await heard('8.0', { code: 8, codeName: 'UnknownError', errmsg: 'x' }), { code: 8, writeError: 8 })
})

t.test('a fail point shows its code unless allowRewriteStateChange is set', async (t) => {
  const cluster = new FakeCluster()
  await failCommand(cluster, { failCommands: ['ping'], errorCode: 91, allowRewriteStateChange: true })
  t.match(await cluster.run({ ping: 1 }), { code: 6 })
  await failCommand(cluster, { failCommands: ['ping'], errorCode: 91 })
  t.match(await cluster.run({ ping: 1 }), { code: 91 })
})
