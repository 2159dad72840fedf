/** A resharding that waits for a transaction, whose next statement waits for the resharding. */
import { Binary, Long } from '@shardlab/bson'
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
