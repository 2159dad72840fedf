/**
 * Load that is generated elsewhere: several lanes in one report, and a generator that dies.
 * `SHARDLAB_LONG=1`: also in a closed loop, which takes all the time of a core.
 */
import t from 'tap'
import { runLoad } from '@shardlab/load'
import { TestCluster } from '../support/clusters.js'
import { passed, smallRun } from './small-run.js'
import { threadGenerators } from './thread-generators.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const world = await TestCluster.start('7.0')
t.teardown(() => world.stop())
const { cluster } = world

t.test(
  'the results of generators are one report',
  { skip: !isLong && 'the other test shows it, too: SHARDLAB_LONG=1' },
  async (t) => {
    const generators = threadGenerators(() => false)
    const report = await runLoad({ ...smallRun(cluster.uri), threads: 2, concurrency: 4, generators })
    passed(t, report, 'two generators')
    t.equal(report.operations, 200, 'each cycle is run by one of them')
    const { all, byOperation } = report.latencyUs
    t.equal(all.count, 200)
    t.equal(
      Object.values(byOperation).reduce((sum, { count }) => sum + count, 0),
      200,
    )
    t.same(report.measured.notLearned, [])
  },
)

t.test('a generator that dies is replaced, and its writes may have happened or not', async (t) => {
  for (const loop of isLong ? [{ rate: 100 }, {}] : [{ rate: 100 }]) {
    let isKilled = false
    const generators = threadGenerators((message, opened) => {
      const { type, progress } = message as { type: string; progress?: { next: number } }
      // The first generator dies while it runs.
      if (isKilled || opened !== 1 || type !== 'pong' || progress!.next === 0) return false
      isKilled = true
      return true
    })
    const options = { ...smallRun(cluster.uri), ...loop, threads: 2, concurrency: 4, durationSecs: 2, generators }
    const { operations: _, ...timed } = options
    const report = await runLoad(timed)
    const name = 'rate' in loop ? 'open loop' : 'closed loop'
    passed(t, report, name)
    t.ok(isKilled, `${name}: killed`)
    const { all, byOperation } = report.latencyUs
    t.equal(all.count, report.operations)
    t.equal(
      Object.values(byOperation).reduce((sum, { count }) => sum + count, 0),
      all.count,
    )
    t.ok(report.endCheck.unknownOutcomes > 0, `${name}: writes of the dead generator have an unknown outcome`)
    t.match(report.measured.notLearned, [
      /^what generator 1 did before \d+\.\d s: its worker ended, and another one continues its part$/,
    ])
  }
})
