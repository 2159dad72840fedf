/**
 * The commit of a transaction on two shards is interrupted at each of its steps: all of it or
 * nothing is there at the end, and nothing is held. `SHARDLAB_LONG=1` plays every interruption.
 */
import t from 'tap'
import { start } from '../two-shard-cluster.js'
import { commitSteps, interrupt, interruptions, nameOf, set, values, violationsOf, writing } from './interruptions.js'
import { transaction } from './transaction.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'

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

for (const [i, step] of Object.keys(commitSteps).entries())
  t.test(`the step ${step} fails`, async (t) => {
    const cluster = await start(t, { seed: 10 + i, findReplicaSetHostTimeoutMs: 3000 })
    const txn = await writing(cluster)
    const fault = await cluster.steps.arm(`shard.transaction.${step}`, 'fail', { times: 1 })
    const reply = await txn.commit()
    t.equal(cluster.steps.strikes(fault), 1)
    t.same(await violationsOf(cluster, reply), [])
  })

/** The quick tests play two of each step, which differ in the rest. */
const isPlayed = (i: number): boolean => isLong || i % 11 === 3

for (const [i, interruption] of interruptions.entries())
  if (isPlayed(i))
    t.test(nameOf(interruption), async (t) => {
      t.same(await interrupt(t, interruption, { seed: 100 + i }), [])
    })

t.test('the checks find a decision that was not stored', async (t) => {
  const interruption = {
    step: 'acknowledged',
    victim: 'coordinator',
    moment: 'before',
    action: 'crash',
    members: 1,
  } as const
  t.not((await interrupt(t, interruption, { mutations: ['decisionRecordOff'] })).length, 0)
})
