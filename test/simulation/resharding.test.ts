/**
 * The primary shard, a donor, a recipient and the config server crash at every named step of a resharding, connections break from there on,
 * every step fails once, and it is given up at every step: afterwards the collection has one key, every document is there once, and nothing is left to be done.
 * `SHARDLAB_LONG=1` plays five seeds.
 */
import t from 'tap'
import { abortSteps, playResharding, reshardingSteps, type Scene } from './resharding.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const seeds = SHARDLAB_SEED === undefined ? (SHARDLAB_LONG === '1' ? [1, 2, 3, 4, 5] : [1]) : [Number(SHARDLAB_SEED)]
const troubles: readonly Scene['trouble'][] = ['primary', 'donor', 'recipient', 'config', 'severed', 'fail', 'abort']

for (const step of [...reshardingSteps, ...abortSteps]) {
  t.test(`D833 ${step}`, async (t) => {
    for (const seed of seeds) {
      for (const trouble of troubles) {
        const { violations, struck } = await playResharding({ seed, step, trouble })
        const scene = `${trouble}, seed ${seed}`
        t.ok(struck, `${scene}: the step is passed`)
        t.same(violations, [], scene)
      }
    }
  })
}
