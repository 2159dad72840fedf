/**
 * A sharded cluster under random stories: clients write and read while chunks are split, merged and moved, keys refined and changed,
 * databases moved, collections dropped and created, and while members crash, steps fail and connections break. `SHARDLAB_SEED=7` plays
 * that seed alone, `SHARDLAB_LONG=1` plays 200. Seeds that follow each other play under different versions.
 */
import t from 'tap'
import { playShardingStory } from './sharding-story.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const count = SHARDLAB_LONG === '1' ? 200 : 3
const seeds = SHARDLAB_SEED === undefined ? Array.from({ length: count }, (_, i) => i + 1) : [Number(SHARDLAB_SEED)]

for (const seed of seeds) {
  t.test(`seed ${seed} (again: SHARDLAB_SEED=${seed} npm test -- simulation/sharding.test)`, async (t) => {
    const first = await playShardingStory(seed)
    const { violations, crashes, acknowledged, unknown, version } = first
    t.same(violations, [], `${version}: each document is there once, where it belongs, as it was acknowledged`)
    t.ok(crashes >= 3 && acknowledged > 60, `${crashes} crashes, ${acknowledged} writes acknowledged, ${unknown} not`)
    t.equal((await playShardingStory(seed)).traceHash, first.traceHash, 'the same again')
  })
}
