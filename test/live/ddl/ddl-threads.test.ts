/**
 * DDL and sharding commands against each other on threads, with crashes. `SHARDLAB_LONG=1` plays a
 * minute, `SHARDLAB_DDL_MINUTES=60` an hour; `SHARDLAB_SEED` chooses the commands and faults of the
 * first round.
 */
import t from 'tap'
import { playRound } from './play.js'

const { SHARDLAB_SEED, SHARDLAB_LONG, SHARDLAB_DDL_MINUTES } = process.env
const minutes = Number(SHARDLAB_DDL_MINUTES ?? (SHARDLAB_LONG === '1' ? 1 : 0))
const first = Number(SHARDLAB_SEED ?? 1)

t.test(
  'on threads, catalog, shards and routers agree after concurrent definitions',
  { timeout: 4 * 3_600_000 },
  async (t) => {
    const untilMs = performance.now() + minutes * 60_000
    let [rounds, commands, succeeded, strikes] = [0, 0, 0, 0]
    do {
      const seed = first + rounds++
      const round = await playRound(seed)
      commands += round.commands
      succeeded += round.succeeded
      strikes += round.strikes
      if (round.problems.length === 0) continue
      t.same(round.problems, [], `SHARDLAB_SEED=${seed}`)
      t.comment(round.journal.join('\n'))
    } while (performance.now() < untilMs)
    t.comment(`${rounds} rounds, ${commands} commands, ${succeeded} succeeded, ${strikes} faults struck`)
    t.ok(succeeded > commands / 5, `${succeeded} of ${commands} commands succeed`)
  },
)
