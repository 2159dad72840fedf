/** What happens between the steps of a resharding: shards that leave, outcomes that come early. */
import t from 'tap'
import { Binary, Long, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import { admin, ask, start } from './two-shard-cluster.js'

const lsid = { id: new Binary(Buffer.alloc(16, 1), 4) }

t.test('a participant deletes its record when the outcome arrives while it waits for a transaction', async (t) => {
  const cluster = await start(t, { emulate: '7.0' })
  const moving = await cluster.steps.arm('shard.transaction.voted', 'hold', { times: 1 })
  const update = { q: { _id: -1, x: -1 }, u: { $set: { x: 5 } } }
  const move = ask(cluster, { update: 'things', updates: [update], lsid, txnNumber: Long.fromNumber(1) })
  await cluster.steps.struck(moving)
  const caughtUp = await cluster.steps.arm('config.resharding.caught-up', 'hold', { times: 1 })
  const resharding = admin(cluster, { reshardCollection: 'app.things', key: { _id: 1 }, numInitialChunks: 1 })
  await cluster.steps.struck(caughtUp)
  await cluster.steps.heal(caughtUp)
  await cluster.advance(100)
  t.match(await admin(cluster, { abortReshardCollection: 'app.things' }), { ok: 1 })
  t.match(await resharding, { code: 341 })
  await cluster.steps.heal(moving)
  t.match(await move, { n: 1 })
  await cluster.advance(10_000)
  for (const shard of cluster.shards) {
    const find = { find: 'localReshardingOperations.donor', $db: 'config' }
    t.same((await ask(cluster, find, shard))['cursor'].firstBatch, [], shard)
  }
  t.match(await ask(cluster, { insert: 'things', documents: [{ _id: 9, x: 9 }] }), { n: 1 }, 'writes are not blocked')
})

t.test('a resharding fails when a planned recipient has left the cluster', async (t) => {
  const cluster = await createSimulatedCluster({ seed: 1, shards: 3, mongos: 1, emulate: '7.0' })
  t.teardown(() => cluster.stop())
  const documents: Document[] = Array.from({ length: 50 }, (_, _id) => ({ _id, x: _id }))
  t.match(await admin(cluster, { enableSharding: 'app', primaryShard: 'shard01' }), { ok: 1 })
  t.match(await admin(cluster, { shardCollection: 'app.things', key: { _id: 1 } }), { ok: 1 })
  t.match(await ask(cluster, { insert: 'things', documents }), { n: 50 })
  t.match(await admin(cluster, { balancerStop: 1 }), { ok: 1 })
  const started = await cluster.steps.arm('config.resharding.started', 'hold', { times: 1 })
  const resharding = admin(cluster, { reshardCollection: 'app.things', key: { x: 1 }, numInitialChunks: 3 })
  await cluster.steps.struck(started)
  // Delays the samples, between the choice of the recipients and its commit.
  await cluster.faults.apply('delay from config to shard01 by 2s..2s for 1s')
  await cluster.steps.heal(started)
  await cluster.advance(100)
  t.match(await admin(cluster, { removeShard: 'shard03' }), { state: 'started' })
  t.match(await admin(cluster, { removeShard: 'shard03' }), { state: 'completed' })
  t.match(await resharding, { code: 70, errmsg: 'Shard shard03 not found' })
  const found = await ask(cluster, { find: 'things', batchSize: 100 })
  t.equal(found['cursor'].firstBatch.length, 50)
})

t.test('a donor that restarts after its collection was resharded ends its committed migration', async (t) => {
  const cluster = await start(t, { emulate: '8.0' })
  const released = await cluster.steps.arm('shard.migration.recipient-released', 'hold', { times: 1 })
  const moving = admin(cluster, { moveChunk: 'app.things', find: { x: -1 }, to: 'shard02' })
  await cluster.steps.struck(released)
  const resharding = { reshardCollection: 'app.things', key: { _id: 1 }, numInitialChunks: 1 }
  t.match(await admin(cluster, { ...resharding, shardDistribution: [{ shard: 'shard01' }] }), { ok: 1 })
  await cluster.crash('shard01')
  await cluster.restart('shard01')
  await cluster.steps.heal(released)
  await moving
  await cluster.advance(60_000)
  const records = await ask(cluster, { find: 'migrationCoordinators', $db: 'config' }, 'shard01')
  t.same(records['cursor'].firstBatch, [])
  t.match(await admin(cluster, { moveChunk: 'app.things', find: { _id: -1 }, to: 'shard02' }), { ok: 1 })
})

/** Shard03 gets no chunks, and crashes while the commit waits. */
async function reshardWhileShard03Crashes(cluster: SimulatedCluster): Promise<{ readonly reply: Promise<Document> }> {
  const committing = await cluster.steps.arm('config.resharding.before-commit', 'hold', { times: 1 })
  const shardDistribution = [{ shard: 'shard01' }, { shard: 'shard02' }]
  const reply = admin(cluster, {
    reshardCollection: 'app.things',
    key: { _id: 1 },
    numInitialChunks: 1,
    shardDistribution,
  })
  await cluster.steps.struck(committing)
  await cluster.crash('shard03')
  await cluster.steps.heal(committing)
  return { reply }
}

t.test('a shard that is down at the commit and does not take part drops its copy when it is back', async (t) => {
  const cluster = await start(t, { emulate: '8.0', shards: 3 })
  for (const to of ['shard03', 'shard02'])
    t.match(await admin(cluster, { moveChunk: 'app.things', find: { x: 1 }, to, _waitForDelete: true }), { ok: 1 })
  const names = async () => {
    const reply = await ask(cluster, { listCollections: 1, nameOnly: true }, 'shard03')
    return (reply['cursor'].firstBatch as Document[]).map(({ name }) => name as string)
  }
  t.same(await names(), ['things'])
  const resharding = await reshardWhileShard03Crashes(cluster)
  await cluster.advance(60_000)
  await cluster.crash('config')
  await cluster.restart('config')
  await cluster.advance(60_000)
  await cluster.restart('shard03')
  t.match(await resharding.reply, { ok: 1 })
  t.same(await names(), [])
  t.match(await admin(cluster, { moveChunk: 'app.things', find: { _id: 1 }, to: 'shard03' }), { ok: 1 })
})

t.test('a resharding ends when a shard that is down leaves the cluster', async (t) => {
  const cluster = await start(t, { emulate: '8.0', shards: 3 })
  const resharding = await reshardWhileShard03Crashes(cluster)
  for (const state of ['started', 'completed']) t.match(await admin(cluster, { removeShard: 'shard03' }), { state })
  t.match(await resharding.reply, { ok: 1 })
})
