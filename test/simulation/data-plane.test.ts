/**
 * The data plane under a virtual clock, while members crash: counters and queues by findAndModify,
 * bulkWrite, multi-document writes, $merge and $out, views, unique, capped and expiring
 * collections, indexes and renames. `SHARDLAB_SEED=7` plays only this seed, `SHARDLAB_LONG=1` plays
 * 200.
 */
import t from 'tap'
import { playDataPlane } from './data-plane.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const count = SHARDLAB_LONG === '1' ? 200 : 2
const seeds = SHARDLAB_SEED === undefined ? Array.from({ length: count }, (_, i) => i + 1) : [Number(SHARDLAB_SEED)]

for (const seed of seeds) {
  t.test(`seed ${seed} (again: SHARDLAB_SEED=${seed} npm test -- simulation/data-plane)`, async (t) => {
    const first = await playDataPlane(seed)
    t.same(first.violations, [], 'what was acknowledged is so')
    t.ok(first.crashes >= 3, `${first.crashes} crashes`)
    const second = await playDataPlane(seed)
    t.equal(second.traceHash, first.traceHash, 'the same again')
  })
}
