/**
 * The primary shard, a donor, a recipient and the config server crash at every named step of a resharding, connections break from there on,
 * every step fails once, and it is given up at every step: afterwards the collection has one key, every document is there once, and nothing is left to be done.
 * Half of that; `SHARDLAB_LONG=1` plays all of it with five seeds.
 */
import t from 'tap'
import { abortSteps, playResharding, reshardingSteps, type Scene } from './resharding.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const seeds = SHARDLAB_SEED === undefined ? (SHARDLAB_LONG === '1' ? [1, 2, 3, 4, 5] : [1]) : [Number(SHARDLAB_SEED)]
const troubles: readonly Scene['trouble'][] = ['primary', 'donor', 'recipient', 'config', 'severed', 'fail', 'abort']

for (const [i, step] of [...reshardingSteps, ...abortSteps].entries()) {
  // Each trouble at every other step; the random runs of the swarm meet the rest.
  const met = SHARDLAB_LONG === '1' ? troubles : troubles.filter((_, j) => (i + j) % 2 === 0)
  t.test(`D833 ${step}`, async (t) => {
    for (const seed of seeds) {
      for (const trouble of met) {
        const { violations, struck } = await playResharding({
          seed,
          step,
          trouble,
          command: 'reshardCollection',
          loss: false,
        })
        const scene = `${trouble}, seed ${seed}`
        t.ok(struck, `${scene}: the step is passed`)
        t.same(violations, [], scene)
      }
    }
  })
}

// The same protocol carries it out: a sample of the scenes, all of them in long runs.
const scenes = [...reshardingSteps, ...abortSteps].flatMap((step) => troubles.map((trouble) => ({ step, trouble })))
const sample = SHARDLAB_LONG === '1' ? scenes : scenes.filter((_, i) => i % 29 === seeds[0]! % 29)

t.test('a collection is gathered on one shard', async (t) => {
  for (const { step, trouble } of sample) {
    const { violations, struck } = await playResharding({
      seed: seeds[0]!,
      step,
      trouble,
      command: 'unshardCollection',
      loss: false,
    })
    t.ok(struck, `${step}, ${trouble}, seed ${seeds[0]}: the step is passed`)
    t.same(violations, [], `${step}, ${trouble}, seed ${seeds[0]}`)
  }
})

t.test('one of twenty messages is lost', async (t) => {
  for (const { step, trouble } of sample) {
    const { violations } = await playResharding({
      seed: seeds[0]!,
      step,
      trouble,
      command: 'reshardCollection',
      loss: true,
    })
    t.same(violations, [], `${step}, ${trouble}, seed ${seeds[0]}`)
  }
})
