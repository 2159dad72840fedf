/**
 * Load that is generated elsewhere: several lanes in one report, and a generator that dies.
 * `SHARDLAB_LONG=1`: also in a closed loop, which takes all the time of a core.
 */
import t from 'tap'
import { loadPage, runLoad, textReport } from '@shardlab/load'
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
    const generators = threadGenerators(() => null)
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
    t.same(report.measured.lostGenerators, [])
  },
)

t.test('a generator that dies is replaced, and its writes may have happened or not', async (t) => {
  for (const loop of isLong ? [{ rate: 100 }, {}] : [{ rate: 100 }]) {
    let isKilled = false
    const generators = threadGenerators((message, opened) => {
      const { type, progress } = message as { type: string; progress?: { next: number } }
      // The first generator dies while it runs.
      if (isKilled || opened !== 1 || type !== 'pong' || progress!.next === 0) return null
      isKilled = true
      return 'replaced'
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
    t.match(report.measured.lostGenerators, [{ generator: 1, isReplaced: true, why: 'its worker ended' }])
    t.same(report.measured.notLearned, [])
  }
})

t.test('a generator that dies and is not replaced leaves the figures of the others', async (t) => {
  let operations = 0
  const generators = threadGenerators((message, opened) => {
    const { type, progress } = message as { type: string; progress?: { operations: number } }
    if (operations > 0 || opened !== 2 || type !== 'pong' || progress!.operations === 0) return null
    operations = progress!.operations
    return 'lost'
  })
  const { operations: _, ...timed } = { ...smallRun(cluster.uri), rate: 100, threads: 2, concurrency: 4, generators }
  const report = await runLoad({ ...timed, durationSecs: 2 })
  passed(t, report, 'one of two')
  t.ok(report.latencyUs.all.count > 0)
  const [lost] = report.measured.lostGenerators
  t.match(lost, { isReplaced: false, why: 'no worker has finished the job' })
  t.ok(lost!.operations >= operations)
  const sentence = `generator ${lost!.generator} of 2 was lost at ${lost!.atSecs.toFixed(1)} s (no worker has finished the job), and its part ended there: at least `
  t.ok(textReport(report).includes(sentence))
  t.ok(JSON.stringify(loadPage(report).parts).includes(sentence.slice(1)))
})

t.test('a generator that dies after its last operation is reported', async (t) => {
  let isKilled = false
  const generators = threadGenerators((message, opened) => {
    if (isKilled || opened !== 1 || (message as { type: string }).type !== 'closed') return null
    isKilled = true
    return 'replaced'
  })
  const report = await runLoad({ ...smallRun(cluster.uri), rate: 100, threads: 2, concurrency: 4, generators })
  passed(t, report, 'its writes may have happened or not')
  t.ok(isKilled)
  t.match(report.measured.lostGenerators, [{ generator: 1, isReplaced: true }])
  t.equal(report.latencyUs.all.count, 100, 'the figures of the other one')
})

t.test('a load test whose generators have all died ends with an error', async (t) => {
  const generators = threadGenerators((message) => ((message as { type: string }).type === 'ran' ? 'lost' : null))
  await t.rejects(runLoad({ ...smallRun(cluster.uri), rate: 100, threads: 2, concurrency: 4, generators }), {
    name: 'OptionError',
    message: 'no generator is left: no worker has finished the job',
  })
})
