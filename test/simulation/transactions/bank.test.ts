/**
 * `SHARDLAB_SEED=7` plays only this seed. `SHARDLAB_LONG=1` plays 500 seeds of each bank, the large
 * one for a minute; quick runs play it for a few seconds.
 */
import t from 'tap'
import { playBank, playLargeBank } from './bank.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const isLong = SHARDLAB_LONG === '1'
const seedsOf = (count: number): number[] =>
  SHARDLAB_SEED === undefined ? Array.from({ length: count }, (_, i) => i + 1) : [Number(SHARDLAB_SEED)]

/** Faults leave some runs almost no time, so the mean of all runs is checked. */
let acknowledgedOfAll = 0
const seeds = seedsOf(isLong ? 500 : 6)
for (const seed of seeds)
  t.test(`seed ${seed} (again: SHARDLAB_SEED=${seed} npm test -- transactions/bank)`, async (t) => {
    const outcome = await playBank(seed)
    t.same(outcome.violations, [], 'no transfer is lost, halved or doubled')
    t.ok(outcome.acknowledged > 0, `${outcome.acknowledged} acknowledged, ${outcome.aborted} aborted`)
    acknowledgedOfAll += outcome.acknowledged
    if (seed === seeds[0]) t.equal((await playBank(seed)).traceHash, outcome.traceHash, 'the same again')
  })

t.test(
  'more than a quarter of the transfers is acknowledged',
  { skip: seeds.length === 1 && 'one seed' },
  async (t) => {
    const mean = acknowledgedOfAll / seeds.length
    t.ok(mean > 15, `${mean} of 60`)
  },
)

const durationMs = isLong ? 60_000 : 4000
const leastAcknowledged = isLong ? 500 : 20

for (const seed of seedsOf(isLong ? 500 : 1))
  t.test(`1,000 accounts on four sets of three, seed ${seed}`, { timeout: 600_000 }, async (t) => {
    const outcome = await playLargeBank(seed, durationMs)
    t.same(outcome.violations, [], 'no transfer is lost, halved or doubled')
    const { acknowledged, aborted, failures, sums } = outcome
    t.ok(acknowledged > leastAcknowledged, `${acknowledged} acknowledged, ${aborted} aborted, ${failures} failures`)
    t.ok(sums > 0, `${sums} snapshots of all accounts`)
    t.ok(failures > 0)
  })
