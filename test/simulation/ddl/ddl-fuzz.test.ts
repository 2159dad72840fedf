/**
 * DDL and sharding commands against each other, with crashes. `SHARDLAB_SEED=7` plays only this
 * seed, `SHARDLAB_LONG=1` plays 5000.
 */
import t from 'tap'
import { playDdl } from './play.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const first = Number(SHARDLAB_SEED ?? 1)
const runs = SHARDLAB_SEED !== undefined ? 1 : SHARDLAB_LONG === '1' ? 5000 : 25

t.test('catalog, shards and routers agree after concurrent definitions', { timeout: 7_200_000 }, async (t) => {
  let [commands, succeeded, crashes] = [0, 0, 0]
  for (let seed = first; seed < first + runs; seed++) {
    const run = await playDdl(seed)
    commands += run.commands
    succeeded += run.succeeded
    crashes += run.crashes
    if (run.problems.length === 0) continue
    t.same(run.problems, [], `SHARDLAB_SEED=${seed}`)
    t.comment(run.journal.join('\n'))
  }
  t.comment(`${runs} seeds, ${commands} commands, ${succeeded} succeeded, ${crashes} crashes`)
  t.ok(succeeded > commands / 5, `${succeeded} of ${commands} commands succeed`)
})

t.test('without the locks the same runs find a defect within 200 seeds', { timeout: 1_200_000 }, async (t) => {
  let found = 0
  for (let seed = 1; seed <= 200 && found === 0; seed++)
    if ((await playDdl(seed, ['ddlLocksOff'])).problems.length > 0) found = seed
  t.ok(found > 0, `seed ${found}`)
})
