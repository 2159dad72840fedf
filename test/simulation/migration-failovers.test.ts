/** Migrations whose donor is restarted or replaced as primary, and what of them remains. */
import t from 'tap'
import { createRandom } from '@shardlab/actor'
import { Binary, decode, encode, Long, type Document } from '@shardlab/bson'
import { createSimulatedCluster } from '@shardlab/cluster'
import { donor, heldAt, move, recipient, start } from './held-migration.js'
import { PatientClient } from './patient-client.js'
import { skipCatchUp } from './skip-catch-up.js'

t.test('a decision that is recovered twice does not wait for a range that has come back', async (t) => {
  const { cluster, run } = await start(t, 2, '6.0')
  // No orphans keep the range from coming back.
  await run({ setParameter: 1, orphanCleanupDelaySecs: 0 }, donor)
  await run({ delete: 'c', deletes: [{ q: {}, limit: 0 }], $db: 'app' })
  const { id } = await cluster.faults.apply(`crash at shard.migration.recipient-told on ${donor} first 1`)
  const moving = run(move('c', 0, recipient))
  t.match(await cluster.faults.reached(id), { member: donor })
  // The donor cannot forget the migration: its second message about the decision is not answered.
  await cluster.faults.apply(`hold at shard.migration.recipient-released on ${recipient}`)
  await cluster.faults.apply(`restart ${donor}`)
  t.match(await moving, { ok: 1 })
  t.match(await run(move('c', 0, donor)), { ok: 1 })
  await cluster.faults.apply(`restart ${donor}`)
  await cluster.faults.heal()
  await cluster.advance(60_000)
  const { turns } = cluster
  await cluster.advance(1000)
  t.ok(cluster.turns - turns < 500, `${cluster.turns - turns} turns in a second without clients`)
  t.match(await run({ insert: 'c', documents: [{ k: 0 }], $db: 'app' }), { n: 1 })
  const records = await run({ find: 'migrationCoordinators', $db: 'config' }, donor)
  t.same(records['cursor'].firstBatch, [])
})

t.test('the record of a write that is rolled back does not move to another shard', async (t) => {
  const cluster = await createSimulatedCluster({
    ...{ seed: 1, shards: 2, mongos: 1, members: 3, serverTimings: false, emulate: '6.0' },
    findReplicaSetHostTimeoutMs: 1000,
  })
  t.teardown(() => cluster.stop())
  const run = async (command: Document, to?: string) =>
    decode(
      await cluster.command(encode({ ...command, $db: command['$db'] ?? 'admin' }), to === undefined ? {} : { to }),
    )
  await skipCatchUp(cluster, 'shard01-1')
  const client = new PatientClient(cluster, createRandom(1))
  await client.untilDone({ enableSharding: 'app', primaryShard: donor, $db: 'admin' })
  await client.untilDone({ shardCollection: 'app.c', key: { k: 1 }, $db: 'admin' })
  await client.untilDone({ insert: 'c', documents: [{ _id: 0, k: 0, n: 0 }], $db: 'app' })
  const increment = {
    ...{ update: 'c', updates: [{ q: { k: 0 }, u: { $inc: { n: 1 } } }], writeConcern: { w: 1 }, $db: 'app' },
    ...{ lsid: { id: new Binary(Buffer.alloc(16, 1), 4) }, txnNumber: Long.fromNumber(1) },
  }
  const moving = await heldAt(cluster, 'shard.migration.recipient-cloned', () => run(move('c', 0, recipient)))
  for (const other of ['shard01-2', 'shard01-3']) await cluster.faults.apply(`partition shard01-1 from ${other}`)
  t.match(await run(increment), { n: 1 })
  await moving.release()
  await cluster.advance(300)
  t.match(await run({ replSetStepUp: 1 }, 'shard01-2'), { ok: 1 })
  await cluster.advance(3000)
  await cluster.faults.heal()
  await moving.reply
  await cluster.advance(10_000)
  t.match(await client.untilDone({ ...move('c', 0, recipient), $db: 'admin' }), { ok: 1 })
  t.match(await client.untilDone(increment), { n: 1 })
  const { cursor } = await client.untilDone({ find: 'c', $db: 'app' })
  t.match(cursor.firstBatch, [{ _id: 0, n: 1 }], 'the repetition of the write was executed')
})
