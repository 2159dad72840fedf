/**
 * Donor, recipient and config server crash at every named step of a migration, and every step fails
 * once. Afterwards the range has one owner, every document is there once, and no work is left. With
 * lost messages a sample of the steps is played. `SHARDLAB_LONG=1` plays all of them with five
 * seeds.
 */
import t from 'tap'
import { migrationSteps, playMigration, type Party } from './migration.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const seeds = SHARDLAB_SEED === undefined ? (SHARDLAB_LONG === '1' ? [1, 2, 3, 4, 5] : [1]) : [Number(SHARDLAB_SEED)]
const parties: readonly (Party | null)[] = ['donor', 'recipient', 'config', null]

for (const step of migrationSteps) {
  t.test(`D832 a migration survives crashes and failures at ${step}`, async (t) => {
    for (const seed of seeds) {
      for (const crash of parties) {
        const { violations, struck } = await playMigration({ seed, step, crash, loss: false })
        const scene = `${crash === null ? 'the step fails' : `the ${crash} crashes`}, seed ${seed}`
        t.ok(struck, `${scene}: the step is passed`)
        t.same(violations, [], scene)
      }
    }
  })
}

const scenes = migrationSteps.flatMap((step) => parties.map((crash) => ({ step, crash })))
const sample = SHARDLAB_LONG === '1' ? scenes : scenes.filter((_, i) => i % 29 === seeds[0]! % 29)

t.test('migrations complete while one of twenty messages is lost', async (t) => {
  for (const seed of seeds) {
    for (const { step, crash } of sample) {
      const { violations } = await playMigration({ seed, step, crash, loss: true })
      t.same(violations, [], `${step}, ${crash === null ? 'the step fails' : `the ${crash} crashes`}, seed ${seed}`)
    }
  }
})
