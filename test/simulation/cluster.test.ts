/**
 * A whole cluster under a virtual clock: a seed replays its run exactly, and no acknowledged write
 * is lost or doubled while members crash. `SHARDLAB_SEED=7` plays only this seed, `SHARDLAB_LONG=1`
 * plays 200.
 */
import t from 'tap'
import { playSeed } from './workload.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const count = SHARDLAB_LONG === '1' ? 200 : 2
const seeds = SHARDLAB_SEED === undefined ? Array.from({ length: count }, (_, i) => i + 1) : [Number(SHARDLAB_SEED)]

t.test('a seed replays its run exactly, and no run loses a write', async (t) => {
  const hashes = new Set<string>()
  for (const seed of seeds) {
    await t.test(`seed ${seed} (again: SHARDLAB_SEED=${seed} npm test -- simulation/cluster)`, async (t) => {
      const first = await playSeed(seed)
      t.same(first.violations, [], 'what was acknowledged is there, once')
      t.ok(first.crashes >= 3, `${first.crashes} crashes`)
      t.ok(first.acknowledged > 50, `${first.acknowledged} statements acknowledged, ${first.unknown} not`)
      const second = await playSeed(seed)
      t.equal(second.traceHash, first.traceHash, 'the same again')
      hashes.add(first.traceHash)
    })
  }
  t.equal(hashes.size, seeds.length, 'different seeds, different stories')
})
