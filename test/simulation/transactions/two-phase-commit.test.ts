/**
 * A transaction writes on two shards, and a member crashes or a step fails at each step of the
 * commit: all of it or nothing is there at the end, and nothing is held.
 */
import type { Document } from '@shardlab/bson'
import type { SimulatedCluster, SimulatedClusterOptions } from '@shardlab/cluster'
import t, { type Test } from 'tap'
import { ask, start } from '../two-shard-cluster.js'
import { transaction, type Txn } from './transaction.js'

const steps = [
  'coordinating',
  'participants-written',
  'preparing',
  'prepared',
  'voted',
  'decided',
  'acknowledged',
] as const

const set = (x: number, value: number): Document => ({
  update: 'things',
  updates: [{ q: { x }, u: { $set: { value } } }],
})

async function values(cluster: SimulatedCluster): Promise<unknown[]> {
  const { cursor } = await ask(cluster, { find: 'things', sort: { x: 1 } }, 'mongos02')
  return (cursor as { firstBatch: Document[] }).firstBatch.map(({ value }) => value ?? null)
}

async function writing(cluster: SimulatedCluster): Promise<Txn> {
  const txn = transaction(cluster, 1)
  await txn(set(-1, 5))
  await txn(set(1, 5))
  return txn
}

/** The members are up: every writer gets its turn, and no record of a commit is left. */
async function check(t: Test, cluster: SimulatedCluster, reply: Document): Promise<void> {
  await cluster.advance(20_000)
  const [, left, right] = await values(cluster)
  t.equal(left, right, 'all or nothing')
  if (reply['ok'] === 1) t.equal(left, 5, 'the commit was acknowledged')
  if (reply['code'] === 251) t.equal(left, null, 'it has aborted')
  for (const x of [-1, 1]) t.match(await ask(cluster, set(x, 9), 'mongos02'), { ok: 1, n: 1 }, 'nothing is held')
  const count = { count: 'transaction_coordinators', $db: 'config', $readPreference: { mode: 'nearest' } }
  for (const member of ['shard01', 'shard02'].flatMap((shard) => cluster.membersOf(shard)))
    t.match(await ask(cluster, count, member), { ok: 1, n: 0 }, `no record is left on ${member}`)
}

t.test('a commit on two shards', async (t) => {
  const cluster = await start(t)
  const txn = await writing(cluster)
  t.same(await values(cluster), [null, null, null, null])
  t.same(txn.token, { recoveryShardId: 'shard01' })
  t.match(await txn.commit(), { ok: 1 })
  t.same(await values(cluster), [null, 5, 5, null])
  t.match(await txn.commit(), { ok: 1 }, 'a repeated commit succeeds')
  t.match(await txn.commit('mongos02', { recoveryToken: txn.token }), { ok: 1 }, 'through any router')
  const forgotten = transaction(cluster, 2)
  await forgotten(set(1, 7))
  await forgotten(set(-1, 7))
  t.match(await forgotten.commit('mongos02', { recoveryToken: forgotten.token }), { code: 251 }, 'not yet committed')
  t.match(await forgotten.commit(), { code: 251 }, 'so it has aborted')
  t.same(await values(cluster), [null, 5, 5, null])
  t.match(await forgotten.commit('mongos02', { recoveryToken: forgotten.token }), { code: 251 })
  t.match(await transaction(cluster, 3).commit('mongos02'), { code: 50940 }, 'an unknown one without a token')
})

const kinds: readonly { readonly name: string; readonly options: SimulatedClusterOptions }[] = [
  { name: 'sets of one', options: { findReplicaSetHostTimeoutMs: 3000 } },
  { name: 'sets of three', options: { members: 3, serverTimings: false } },
]
/** The quick tests play some of the steps with sets of three. */
const isPlayed = (kind: string, index: number) =>
  kind === 'sets of one' || process.env['SHARDLAB_LONG'] === '1' || index % 3 === 0

for (const { name, options } of kinds)
  for (const action of ['crash', 'fail'] as const)
    for (const [i, step] of [...steps.entries()].filter(([index]) => isPlayed(name, index)))
      t.test(`${name}: ${action} at ${step}`, async (t) => {
        const cluster = await start(t, { ...options, seed: 10 + i })
        const txn = await writing(cluster)
        const fault = await cluster.steps.arm(`shard.transaction.${step}`, action, { times: 1 })
        const committing = txn.commit()
        const member = await Promise.race([
          cluster.steps.struck(fault),
          committing.then(() => cluster.steps.struck(fault)),
        ])
        if (action === 'crash') {
          // Another member of a set of three is elected meanwhile.
          await cluster.advance(options.members === 3 ? 15_000 : 20)
          await cluster.restart(member)
        }
        const reply = await committing
        await check(t, cluster, reply)
      })
