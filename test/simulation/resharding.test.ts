/**
 * At every named step of a resharding the primary shard, a donor, a recipient or the config server
 * crashes, connections break, the step fails once, or the resharding is aborted. Afterwards the
 * collection has one key, every document is there once, and no work is left. By default half of the
 * combinations are played; `SHARDLAB_LONG=1` plays all with five seeds.
 */
import t from 'tap'
import { abortSteps, playResharding, reshardingSteps, type Scene } from './resharding.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const seeds = SHARDLAB_SEED === undefined ? (SHARDLAB_LONG === '1' ? [1, 2, 3, 4, 5] : [1]) : [Number(SHARDLAB_SEED)]
const disruptions: readonly Scene['disruption'][] = [
  'primary',
  'donor',
  'recipient',
  'config',
  'severed',
  'fail',
  'abort',
]

for (const [i, step] of [...reshardingSteps, ...abortSteps].entries()) {
  // Each disruption at every third step; random runs of the swarm include the rest.
  const met = SHARDLAB_LONG === '1' ? disruptions : disruptions.filter((_, j) => (i + j) % 3 === 0)
  t.test(`D833 a resharding survives crashes and failures at ${step}`, async (t) => {
    for (const seed of seeds) {
      for (const disruption of met) {
        const { violations, struck } = await playResharding({
          seed,
          step,
          disruption,
          command: 'reshardCollection',
          loss: false,
        })
        const scene = `${disruption}, seed ${seed}`
        t.ok(struck, `${scene}: the step is passed`)
        t.same(violations, [], scene)
      }
    }
  })
}

// unshardCollection uses the same protocol: a sample of the scenes, all of them in long runs.
const scenes = [...reshardingSteps, ...abortSteps].flatMap((step) =>
  disruptions.map((disruption) => ({ step, disruption })),
)
const sample = SHARDLAB_LONG === '1' ? scenes : scenes.filter((_, i) => i % 41 === seeds[0]! % 41)

t.test('unshardCollection survives crashes and failures', async (t) => {
  for (const { step, disruption } of sample) {
    const { violations, struck } = await playResharding({
      seed: seeds[0]!,
      step,
      disruption,
      command: 'unshardCollection',
      loss: false,
    })
    t.ok(struck, `${step}, ${disruption}, seed ${seeds[0]}: the step is passed`)
    t.same(violations, [], `${step}, ${disruption}, seed ${seeds[0]}`)
  }
})

t.test('reshardings complete while one of twenty messages is lost', async (t) => {
  for (const { step, disruption } of sample) {
    const { violations } = await playResharding({
      seed: seeds[0]!,
      step,
      disruption,
      command: 'reshardCollection',
      loss: true,
    })
    t.same(violations, [], `${step}, ${disruption}, seed ${seeds[0]}`)
  }
})
