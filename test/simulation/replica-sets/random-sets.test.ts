/**
 * Random sets keep their promises: a write that a majority has acknowledged is never lost, majority
 * reads never show what is rolled back, a term has one primary, and members become equal.
 * `SHARDLAB_SEED=n` plays one seed; with SHARDLAB_LONG=1 200 seeds.
 */
import t from 'tap'
import { randomRun } from './random-run.js'

const given = process.env['SHARDLAB_SEED']
const runs = process.env['SHARDLAB_LONG'] === '1' ? 200 : 6
const seeds = given === undefined ? Array.from({ length: runs }, (_, i) => 1000 + i) : [Number(given)]

t.test('random sets of three and five members keep their promises', async (t) => {
  t.setTimeout(600_000)
  let elections = 0
  let rollbacks = 0
  for (const seed of seeds) {
    const set = await randomRun({ seed })
    elections += set.eventsOf('election').filter(({ outcome }) => outcome === 'won').length
    rollbacks += set.eventsOf('rollback').length
  }
  if (given === undefined) {
    t.ok(elections > runs, `${elections} elections`)
    t.ok(rollbacks > 0, `${rollbacks} rollbacks`)
  }
})
