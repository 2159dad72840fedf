/** A router whose routes or clock are behind runs statements of transactions. */
import type { Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import t, { type Test } from 'tap'
import { admin, ask, start } from '../two-shard-cluster.js'
import { transaction } from './transaction.js'

const transient = { ok: 0, errorLabels: ['TransientTransactionError'] } as const
const push = (filter: Document, value: number, multi = false): Document => ({
  q: filter,
  u: { $push: { values: value } },
  multi,
})
const both = { x: { $in: [-1, 1] } }
const update = (...updates: readonly Document[]): Document => ({ update: 'things', updates })

/** The routes of mongos02 are stale once the chunk of 1 has moved. */
async function started(t: Test): Promise<SimulatedCluster> {
  const cluster = await start(t, { shards: 3 })
  t.match(await ask(cluster, { find: 'things' }, 'mongos02'), { ok: 1 })
  return cluster
}

const move = (cluster: SimulatedCluster): Promise<Document> =>
  admin(cluster, { moveChunk: 'app.things', find: { x: 1 }, to: 'shard03', _waitForDelete: true })

async function values(cluster: SimulatedCluster): Promise<unknown[]> {
  const { cursor } = await ask(cluster, { find: 'things', filter: both, sort: { x: 1 } })
  return (cursor as { firstBatch: Document[] }).firstBatch.map((each) => each['values'] ?? [])
}

t.test('the first statement updates several documents where they are now', async (t) => {
  const cluster = await started(t)
  t.match(await move(cluster), { ok: 1 })
  const txn = transaction(cluster, 1)
  t.match(await txn(update(push(both, 7, true)), 'mongos02'), { ok: 1, n: 2, nModified: 2 })
  t.match(await txn.commit('mongos02'), { ok: 1 })
  t.same(await values(cluster), [[7], [7]])
})

t.test('a later statement for several documents does not miss one that has moved', async (t) => {
  const cluster = await started(t)
  const txn = transaction(cluster, 1)
  t.match(await txn({ find: 'things', filter: { x: -1 } }, 'mongos02'), { ok: 1 })
  t.match(await move(cluster), { ok: 1 })
  t.match(await txn(update(push(both, 7, true)), 'mongos02'), { ...transient, code: 13388 })
  t.same(await values(cluster), [[], []])
})

t.test(
  'a transaction does not miss a document that has arrived since its snapshot, even before the donor knows of the commit',
  async (t) => {
    const cluster = await start(t)
    const txn = transaction(cluster, 1)
    t.match(await txn({ find: 'things', filter: { x: -1 } }), { ok: 1 })
    const fault = await cluster.steps.arm('shard.migration.committed', 'hold', { times: 1 })
    const moving = admin(cluster, { moveChunk: 'app.things', find: { x: 1 }, to: 'shard01' }, 'mongos02')
    await cluster.steps.struck(fault)
    t.match(await admin(cluster, { flushRouterConfig: 1 }), { ok: 1 })
    t.match(await txn({ find: 'things', filter: both }), { ...transient, code: 272, codeName: 'MigrationConflict' })
    await cluster.steps.heal(fault)
    t.match(await moving, { ok: 1 })
    const { cursor } = await transaction(cluster, 1, 2)({ find: 'things', filter: both })
    t.equal((cursor as { firstBatch: Document[] }).firstBatch.length, 2)
  },
)

t.test('a stale route after the first write of a batch aborts the transaction, and a new one succeeds', async (t) => {
  const cluster = await started(t)
  t.match(await move(cluster), { ok: 1 })
  const txn = transaction(cluster, 1)
  t.match(await txn(update(push({ x: -1 }, 7), push(both, 8, true)), 'mongos02'), { ...transient, code: 13388 })
  t.match(await txn.commit('mongos02'), { ok: 0, code: 251 })
  t.same(await values(cluster), [[], []], 'no half of it is left')
  const again = transaction(cluster, 1, 2)
  t.match(await again(update(push({ x: -1 }, 7), push(both, 8, true)), 'mongos02'), { ok: 1, n: 3 })
  t.match(await again.commit('mongos02'), { ok: 1 })
  t.same(await values(cluster), [[7, 8], [8]])
})

t.test('a stale route of one shard aborts what an unordered batch has written on another', async (t) => {
  const cluster = await started(t)
  t.match(await move(cluster), { ok: 1 })
  const txn = transaction(cluster, 1)
  const batch = { ...update(push({ x: -1 }, 7), push({ x: 1 }, 8)), ordered: false }
  t.match(await txn(batch, 'mongos02'), { ...transient, code: 13388 })
  t.same(await values(cluster), [[], []])
})

t.test('a snapshot is not older than the time that the client has seen', async (t) => {
  const cluster = await start(t)
  const { operationTime } = await ask(cluster, update(push({ x: 1 }, 7)))
  const readConcern = { level: 'snapshot', afterClusterTime: operationTime }
  const found = { ok: 1, cursor: { firstBatch: [{ values: [7] }] } }
  const find = { find: 'things', filter: { x: 1 } }
  t.match(await transaction(cluster, 1, 1, { readConcern })(find, 'mongos02'), found)
  t.match(await ask(cluster, { ...find, readConcern }, 'mongos02'), found, 'outside of transactions')
})
