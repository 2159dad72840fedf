/** Transactions, and migrations and reshardings that wait for them. */
import { Binary, Long, type Document } from '@shardlab/bson'
import t from 'tap'
import { admin, ask, start, tookMs } from '../two-shard-cluster.js'

const lsid = { id: new Binary(Buffer.alloc(16, 1), 4) }
const inTransaction = { lsid, txnNumber: Long.fromNumber(1), autocommit: false }
const set = (x: number) => ({ update: 'things', updates: [{ q: { x }, u: { $set: { n: 1 } } }], ...inTransaction })

t.test('a transaction waits half a second for a resharding that waits for its end', async (t) => {
  for (const emulate of ['5.0', '7.0'] as const) {
    const cluster = await start(t, { emulate })
    t.match(await ask(cluster, { ...set(-1), startTransaction: true }), { n: 1 })
    const blocked = await cluster.steps.arm('shard.resharding.writes-blocked', 'hold', { times: 1 })
    const resharding = admin(cluster, { reshardCollection: 'app.things', key: { _id: 1 }, numInitialChunks: 1 })
    t.equal(await cluster.during(cluster.steps.struck(blocked)), 'shard02', 'the other shard waits for the transaction')
    const ms = await tookMs(cluster, async () => {
      t.match(await ask(cluster, set(1)), { ok: 0, errorLabels: ['TransientTransactionError'] })
    })
    t.ok(ms > 400 && ms < 1500, `${ms} ms`)
    await cluster.steps.heal(blocked)
    t.match(await resharding, { ok: 1 })
  }
})

const reads = { find: 'things', filter: { x: 1 }, ...inTransaction }
const firstBatch = (reply: Document): Document[] => (reply['cursor'] as { firstBatch: Document[] }).firstBatch

for (const [what, step, changed, command] of [
  [
    'migration',
    'shard.migration.writes-blocked',
    'shard.migration.committing',
    { moveChunk: 'app.things', find: { x: 1 }, to: 'shard01' },
  ],
  [
    'resharding',
    'config.resharding.writes-blocked',
    'config.resharding.before-commit',
    { reshardCollection: 'app.things', key: { _id: 1 }, numInitialChunks: 1 },
  ],
] as const)
  t.test(`a ${what} waits before it blocks reads for a transaction that has begun to read`, async (t) => {
    const cluster = await start(t, { emulate: '5.0' })
    const blocked = await cluster.steps.arm(step, 'hold', { times: 1 })
    const changing = admin(cluster, command, 'mongos02')
    await cluster.during(cluster.steps.struck(blocked))
    const before = firstBatch(await ask(cluster, { ...reads, startTransaction: true }))
    t.equal(before.length, 1)
    const committing = await cluster.steps.arm(changed, 'hold', { times: 1 })
    let hasCommitted = false
    void cluster.steps.struck(committing).then(() => {
      hasCommitted = true
    })
    await cluster.steps.heal(blocked)
    await cluster.advance(300)
    t.notOk(hasCommitted, 'it waits')
    t.same(firstBatch(await ask(cluster, reads)), before)
    t.match(await ask(cluster, { commitTransaction: 1, ...inTransaction, $db: 'admin' }), { ok: 1 })
    await cluster.during(cluster.steps.struck(committing))
    await cluster.steps.heal(committing)
    t.match(await changing, { ok: 1 })
  })

t.test('a migration waits for transactions as long as its parameter says', async (t) => {
  const cluster = await start(t, { emulate: '7.0' })
  const shard = (command: Document) => admin(cluster, command, 'shard02')
  t.match(await shard({ getParameter: 1, migrationLockAcquisitionMaxWaitMS: 1 }), {
    migrationLockAcquisitionMaxWaitMS: 500,
  })
  t.match(await shard({ setParameter: 1, migrationLockAcquisitionMaxWaitMS: 2000 }), { was: 500 })
  t.match(await ask(cluster, { ...reads, startTransaction: true }), { ok: 1 })
  const ms = await tookMs(cluster, async () => {
    t.match(await admin(cluster, { moveChunk: 'app.things', find: { x: 1 }, to: 'shard01' }), {
      ...{ ok: 0, code: 24, codeName: 'LockTimeout' },
      errmsg: "Unable to acquire X lock on '{app.things: Collection, app.things}' within 2000ms.",
    })
  })
  t.ok(ms >= 2000 && ms < 2500, `${ms} ms`)
})

t.test('a migration does not wait for a transaction that its critical section blocks', async (t) => {
  const cluster = await start(t, { emulate: '7.0' })
  const blocked = await cluster.steps.arm('shard.migration.writes-blocked', 'hold', { times: 1 })
  const moving = admin(cluster, { moveChunk: 'app.things', find: { x: 1 }, to: 'shard01' }, 'mongos02')
  await cluster.during(cluster.steps.struck(blocked))
  const writing = ask(cluster, { ...set(1), startTransaction: true })
  await cluster.advance(20)
  const ms = await tookMs(cluster, async () => {
    await cluster.steps.heal(blocked)
    t.match(await moving, { ok: 1 })
  })
  t.ok(ms < 300, `${ms} ms`)
  t.match(await writing, { n: 1 }, 'the router has sent it to the new owner')
  t.match(await ask(cluster, { commitTransaction: 1, ...inTransaction, $db: 'admin' }), { ok: 1 })
})
