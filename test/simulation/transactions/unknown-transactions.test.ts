/** A primary that has been replaced does not know the transactions of its successor. */
import type { Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import t, { type Test } from 'tap'
import { ask, start } from '../two-shard-cluster.js'
import { transaction, type Txn } from './transaction.js'

const set = (x: number, value: number): Document => ({
  update: 'things',
  updates: [{ q: { x }, u: { $set: { value } } }],
})
const [old, ...others] = ['shard02-1', 'shard02-2', 'shard02-3'] as const
const majority = { writeConcern: { w: 'majority' } }
const forASecond = { writeConcern: { w: 'majority', wtimeout: 1000 } }

interface Rivals {
  readonly cluster: SimulatedCluster
  readonly txn: Txn
}

/** mongos01 reaches only the old primary of shard02, mongos02 only the new one. */
async function withRivals(t: Test, emulate: '4.4' | '8.0'): Promise<Rivals> {
  const cluster = await start(t, { members: 3, emulate })
  const refused = others.flatMap((other) => [
    [other, old],
    [old, other],
    [other, 'mongos01'],
  ])
  for (const [to, from] of [...refused, [old, 'mongos02']])
    await cluster.faults.apply(`refuse connections to ${to} from ${from}`)
  t.match(await ask(cluster, { replSetStepUp: 1, $db: 'admin' }, others[0]), { ok: 1 })
  return { cluster, txn: transaction(cluster, 1) }
}

for (const emulate of ['4.4', '8.0'] as const)
  t.test(`a primary that has been replaced does not report a commit as aborted, ${emulate}`, async (t) => {
    const { txn } = await withRivals(t, emulate)
    t.match(await txn(set(1, 5), 'mongos02'), { ok: 1, nModified: 1 })
    t.match(await txn.commit('mongos02', majority), { ok: 1, writeConcernError: undefined })
    const recoveryToken = { recoveryShardId: 'shard02' }
    t.match(await txn.commit('mongos01', { recoveryToken, ...forASecond }), {
      code: 251,
      errorLabels: undefined,
      writeConcernError: { code: 64, errInfo: { wtimeout: true } },
    })
    const unsafe = { recoveryToken, writeConcern: { w: 1 } }
    t.match(await txn.commit('mongos01', unsafe), { code: 251, errorLabels: ['TransientTransactionError'] })
    t.match(await txn.commit('mongos02', { recoveryToken, ...majority }), { ok: 1 }, 'it has committed')
  })

t.test('a primary that has been replaced does not vote', async (t) => {
  const { cluster, txn } = await withRivals(t, '8.0')
  const refused: { readonly id: string }[] = []
  for (const other of others) refused.push(await cluster.faults.apply(`refuse connections to ${other} from shard01-1`))
  await txn(set(-1, 5), 'mongos02')
  t.match(await txn(set(1, 5), 'mongos02'), { ok: 1, nModified: 1 })
  const committing = txn.commit('mongos02', majority)
  await cluster.advance(3000)
  for (const fault of refused) await cluster.faults.heal(fault.id)
  t.match(await committing, { ok: 1, writeConcernError: undefined })
})

t.test('an unknown transaction is reported when a majority has the history of the primary', async (t) => {
  const cluster = await start(t, { members: 3 })
  const txn = transaction(cluster, 1)
  t.match(await txn(set(1, 5)), { ok: 1 })
  const unknown = transaction(cluster, 2)
  const transient = { code: 251, errorLabels: ['TransientTransactionError'], writeConcernError: undefined }
  t.match(await unknown.commit('mongos02', { recoveryToken: txn.token, ...majority }), transient)
  const last = { find: 'oplog.rs', sort: { $natural: -1 }, limit: 1, $db: 'local' }
  t.match(await ask(cluster, last, old), {
    cursor: { firstBatch: [{ op: 'n', o: { msg: 'NoSuchTransaction error' } }] },
  })
})
