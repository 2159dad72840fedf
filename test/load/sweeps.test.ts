/** Sweeps, and workload files. */
import t from 'tap'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  compareReports,
  failedExpectations,
  loadPage,
  parseExpectation,
  parseReport,
  parseWorkload,
  runLoad,
  textReport,
} from '@shardlab/load'
import { chartOf } from '@shardlab/report/testing'
import { ShardedCluster } from 'shardlab'
import { TestCluster } from '../support/clusters.js'
import { passed, smallRun } from './small-run.js'

const world = await TestCluster.start('7.0')
t.teardown(() => world.stop())
const small = () => smallRun(world.cluster.uri)

t.test('sweeps and workload files with phases run to the end', async (t) => {
  const { uri, ns } = small()
  const sweep = await runLoad({ ...small(), operations: 300, workload: 'b', sweep: 'concurrency=1,8' })
  t.same(
    sweep.sweep!.steps.map(({ value, report }) => [
      value,
      report.operations,
      report.endCheck.ok,
      report.workload.concurrency,
    ]),
    [
      [1, 300, true, 1],
      [8, 300, true, 8],
    ],
  )
  t.match(textReport(sweep), /swept over concurrency[^]*targeted p50[^]*\n +8 /)
  const page = loadPage(sweep)
  t.match(page.parts[0], { kind: 'heading', text: /swept over concurrency/ })
  t.match(chartOf(page, 'Latency, p50').x, { scale: 'log', ticks: [1, 8] })
  t.strictSame(JSON.parse(JSON.stringify(page)), page)
  t.same(failedExpectations(sweep, ['errors==0', 'operations(read)>1', 'share<=100%'].map(parseExpectation)), [])
  t.match(failedExpectations(sweep, [parseExpectation('operations>300')]), [
    'expected operations>300 at concurrency=1, but it is 300',
    /at concurrency=8/,
  ])
  t.throws(() => failedExpectations(sweep, [parseExpectation('p99(flight)<1s')]), {
    name: 'OptionError',
    message: /names flight: there are read, update, targeted/,
  })
  t.same(
    failedExpectations(sweep, ['operations(broadcast)==0', 'errorRate(broadcast)<1%'].map(parseExpectation)),
    [],
    'a class that did not occur',
  )
  t.match(failedExpectations(sweep, [parseExpectation('p99(broadcast)<1s')]), [
    /but there was no operation of that kind/,
    /concurrency=8/,
  ])
  const single = sweep.sweep!.steps[0]!.report
  t.match(
    compareReports(sweep, sweep, ['a', 'b']),
    /^concurrency=1\n[^]*throughput[^]*\nconcurrency=8\n/,
    'step by step',
  )
  t.throws(() => compareReports(sweep, single, ['a.json', 'b.json']), {
    name: 'OptionError',
    message: 'a.json is a sweep over concurrency, b.json one measurement: there is nothing to compare',
  })
  t.same(parseReport(JSON.stringify(sweep), 'a.json'), sweep)

  const started: unknown[] = []
  const sizes = await runLoad({
    ...{ ...small(), uri: '', operations: 50, workload: 'c', sweep: 'shards=1,2' },
    startCluster: async (size) => {
      started.push(size)
      const cluster = await ShardedCluster.start({ runtime: 'inline', shards: size.shards! })
      return { uri: cluster.uri, stop: () => cluster.stop() }
    },
  })
  t.same(started, [{ shards: 1 }, { shards: 2 }])
  t.same(
    sizes.sweep!.steps.map(({ report }) => [report.measured.shards, report.endCheck.ok]),
    [
      [1, true],
      [2, true],
    ],
  )

  const folder = mkdtempSync(join(tmpdir(), 'shardlab-load-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'orders.yaml')
  writeFileSync(
    path,
    `name: orders
records: 100
shardKey: { region: 1, _id: 1 }
record: { region: { $int: [0, 90] }, total: { $int: [1, 500] }, note: { $text: 20 } }
operations:
  one: { do: findOne, by: [region, _id] }
  region: { do: count, by: [region] }
  span: { do: find, range: { field: region, width: 45 }, sort: { region: 1 } }
  sum: { do: aggregate, range: { field: region }, pipeline: [{ $group: { _id: null, sum: { $sum: $total } } }] }
  dear: { do: find, filter: { total: { $gt: 400 } }, by: [_id] }
  note: { do: update, by: [region, _id], fields: all }
  order: { do: upsert }
  orders: { do: bulkInsert, documents: 7 }
phases:
  - { name: reading, operations: 150, mix: { one: 1, region: 1, span: 1, sum: 1, dear: 1 } }
  - { name: writing, operations: 150, mix: { note: 4, order: 1, orders: 1 } }
`,
  )
  for (const engine of ['driver', 'wire'] as const) {
    const report = await runLoad({ uri, ns: `${ns}${engine}`, workload: path, engine, warmUpSecs: 0, threads: 0 })
    passed(t, report, engine)
    t.same(
      report.marks.map(({ text }) => text),
      ['reading', 'writing'],
    )
    const count = (name: string) => report.latencyUs.byOperation[name]!.count
    t.same(
      [report.operations, count('one') + count('region') + count('span') + count('sum') + count('dear')],
      [300, 150],
    )
    t.equal(report.endCheck.documents, 100 + count('order') + count('orders') * 7)
    t.same(Object.keys(report.latencyUs.byRoutingClass).sort(), ['broadcast', 'multi', 'targeted'])
  }
})

t.test("the guide's workload files are valid", async (t) => {
  const guide = readFileSync(new URL('../../../docs/guides/load-test.md', import.meta.url), 'utf8')
  const workloads = [...guide.matchAll(/```yaml\n([^]*?)```/g)].map(([, file]) => parseWorkload(file!, 'guide'))
  t.match(workloads, [{ name: 'growing' }, { name: 'orders', records: 50_000 }])
  // A question of the guide's own: a growing key makes one shard hot.
  const [growing] = workloads
  for (const [shardKey, isHot] of [
    ['_id:1', true],
    ['_id:hashed', false],
  ] as const) {
    const folder = mkdtempSync(join(tmpdir(), 'shardlab-load-'))
    const path = join(folder, 'growing.yaml')
    writeFileSync(
      path,
      guide.slice(guide.indexOf('name: growing'), guide.indexOf('```', guide.indexOf('name: growing'))),
    )
    const { fieldCount: _, fieldLength: __, ...options } = small()
    const report = await runLoad({ ...options, operations: 400, workload: path, shardKey, engine: 'wire' })
    rmSync(folder, { recursive: true })
    t.equal(report.workload.name, growing!.name)
    t.equal(
      failedExpectations(report, [parseExpectation('share<50%')]).length === 1,
      isHot,
      JSON.stringify(report.perShard),
    )
  }
})
