/** `SHARDLAB_SEED=7` plays only this seed, `SHARDLAB_LONG=1` plays 500. */
import t from 'tap'
import { playBank } from './bank.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const count = SHARDLAB_LONG === '1' ? 500 : 6
const seeds = SHARDLAB_SEED === undefined ? Array.from({ length: count }, (_, i) => i + 1) : [Number(SHARDLAB_SEED)]

for (const seed of seeds)
  t.test(`seed ${seed} (again: SHARDLAB_SEED=${seed} npm test -- transactions/bank)`, async (t) => {
    const outcome = await playBank(seed)
    t.same(outcome.violations, [], 'no transfer is lost, halved or doubled')
    t.ok(outcome.acknowledged > 5, `${outcome.acknowledged} acknowledged, ${outcome.aborted} aborted`)
    if (seed === seeds[0]) t.equal((await playBank(seed)).traceHash, outcome.traceHash, 'the same again')
  })
