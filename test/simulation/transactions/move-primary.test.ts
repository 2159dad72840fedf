/** Transactions that read an unsharded collection while its database moves to another shard. */
import t from 'tap'
import type { Document } from '@shardlab/bson'
import { admin, ask, start } from '../two-shard-cluster.js'
import { transaction } from './transaction.js'

const reads = { find: 'notes', filter: { _id: 1 } }
const valuesIn = (reply: Document): unknown[] =>
  (reply['cursor'] as { firstBatch: Document[] }).firstBatch.map(({ n }) => n as unknown)

t.test('a movePrimary waits before it blocks reads for transactions that have begun to read', async (t) => {
  for (const emulate of ['4.4', '5.0', '7.0', '8.0'] as const) {
    const cluster = await start(t, { emulate })
    t.match(await ask(cluster, { insert: 'notes', documents: [{ _id: 1, n: 1 }] }), { n: 1 })
    const copied = await cluster.steps.arm('shard.move-primary.cloned', 'hold', { times: 1 })
    const moving = admin(cluster, { movePrimary: 'app', to: 'shard02' }, 'mongos02')
    await cluster.during(cluster.steps.struck(copied))
    const txn = transaction(cluster, 1)
    t.same(valuesIn(await txn(reads)), [1])
    await cluster.steps.heal(copied)
    await cluster.advance(2000)
    t.same(valuesIn(await txn(reads)), [1], `${emulate}: the shard still has it`)
    t.match(await txn.commit(), { ok: 1 })
    t.match(await moving, { ok: 1 })
    t.match(await ask(cluster, { update: 'notes', updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }] }), { n: 1 })
    t.same(valuesIn(await transaction(cluster, 1, 2)(reads)), [2])
  }
})

t.test('a transaction does not miss the documents of a database that has arrived since its snapshot', async (t) => {
  for (const emulate of ['4.4', '5.0', '7.0', '8.0'] as const) {
    const cluster = await start(t, { emulate })
    t.match(await ask(cluster, { insert: 'notes', documents: [{ _id: 1, n: 1 }] }), { n: 1 })
    const txn = transaction(cluster, 1)
    t.match(await txn({ find: 'things', filter: { x: 1 } }), { ok: 1 })
    t.match(await admin(cluster, { movePrimary: 'app', to: 'shard02' }, 'mongos02'), { ok: 1 })
    t.match(await txn(reads), { ok: 0, errorLabels: ['TransientTransactionError'] }, emulate)
  }
})
