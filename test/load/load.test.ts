import t from 'tap'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  builtInWorkloads,
  compareReports,
  failedExpectations,
  htmlReport,
  lineChart,
  OptionError,
  parseExpectation,
  parseReport,
  parseWorkload,
  runLoad,
  textReport,
  type LoadReport,
} from '@shardlab/load'
import type { Document } from '@shardlab/bson'
import { ShardedCluster } from 'shardlab'
import { TestCluster } from '../support/clusters.js'
import { shardlab } from '../support/up.js'
import { passed, smallRun } from './small-run.js'

const world = await TestCluster.start('7.0')
t.teardown(() => world.stop())
const small = () => smallRun(world.cluster.uri)

t.test('the built-in workloads, each through one engine, all kinds of operations through both', async (t) => {
  t.same(builtInWorkloads, ['a', 'b', 'c', 'd', 'e', 'f', 'route-mix'])
  const engines = {
    a: ['driver'],
    b: ['wire'],
    c: ['wire'],
    d: ['wire'],
    e: ['driver', 'wire'],
    f: ['driver', 'wire'],
    'route-mix': ['driver', 'wire'],
  } as const
  for (const [workload, through] of Object.entries(engines)) {
    for (const engine of through) {
      const report = await runLoad({ ...small(), workload, engine })
      passed(t, report, `${workload}, ${engine}`)
      t.equal(report.operations, 200)
      const shares = Object.values(report.perShard).map(({ share }) => share)
      t.equal(shares.reduce((sum, share) => sum + share, 0).toFixed(2), '1.00')
      t.equal(report.perShard[report.hottestShard!]!.share, Math.max(...shares))
      const counted = Object.values(report.latencyUs.byRoutingClass).reduce((sum, { count }) => sum + count, 0)
      t.equal(counted, 200, 'every operation has one class')
      const alone = Object.values(report.perShard).flatMap(({ latencyUs }) => latencyUs ?? [])
      t.ok(alone.length > 0)
      const { min, max } = report.latencyUs.all.intended
      for (const { p50 } of alone) t.ok(p50 >= min * 0.98 && p50 <= max * 1.02, `${min} <= ${p50} <= ${max}`)
    }
  }
})

t.test('lanes on worker threads, several operations on a connection', async (t) => {
  const report = await runLoad({ ...small(), workload: 'a', engine: 'wire', threads: 2, concurrency: 16, pipeline: 4 })
  passed(t, report, 'wire')
  t.match(report, { operations: 200, measured: { threads: 2 }, workload: { pipeline: 4 } })
  await t.rejects(
    runLoad({ ...small(), operations: 100_000, threads: 1, engine: 'wire', faults: ['crash shard99'] }),
    OptionError,
    'ends at once',
  )
})

t.test('the routing classes are those of the router', async (t) => {
  const options = { ...small(), workload: 'route-mix', operations: 800, ns: 'load.classes' }
  const kinds: Record<string, number> = {}
  const shards: Record<string, number> = {}
  let loaded = false
  world.cluster.on('routed', ({ ns, kind, shards: asked, command }) => {
    if (ns !== options.ns || !loaded || command === 'createIndexes') return
    kinds[kind] = (kinds[kind] ?? 0) + 1
    for (const shard of asked) shards[shard] = (shards[shard] ?? 0) + 1
  })
  const report = await runLoad({ ...options, check: false, onProgress: ({ phase }) => (loaded = phase === 'run') })
  for (const router of world.cluster.members().filter(({ role }) => role === 'mongos'))
    await world.cluster.describe(router.address)
  const classes = Object.fromEntries(
    Object.entries(report.latencyUs.byRoutingClass).map(([name, { count }]) => [name, count]),
  )
  // Shares, because the progress callback reports the start of the run a little late.
  for (const name of ['targeted', 'multi', 'broadcast'] as const) {
    const [told, derived] = [
      kinds[name]! / Object.values(kinds).reduce((a, b) => a + b, 0),
      classes[name]! / report.operations,
    ]
    t.ok(
      Math.abs(told - derived) < 0.05,
      `${name}: the router says ${told.toFixed(3)}, the report ${derived.toFixed(3)}`,
    )
  }
  const total = Object.values(shards).reduce((a, b) => a + b, 0)
  for (const [id, { share, opcounters }] of Object.entries(report.perShard)) {
    t.ok(Math.abs(shards[id]! / total - share) < 0.05, `${id}: ${share}`)
    t.ok(opcounters!['query']! > 0 && opcounters!['insert']! > 0, 'its own counters rose')
  }
  t.equal(report.routing.placementChanged, false)
})

t.test('an open loop keeps its rate, and both clocks are told', async (t) => {
  const { operations: _, ...options } = small()
  const report = await runLoad({
    ...options,
    workload: 'c',
    rate: { from: 100, to: 300 },
    durationSecs: 1,
    warmUpSecs: 0.1,
  })
  passed(t, report, 'ramp')
  t.equal(report.operations, 200, 'as many as the rate gives, however long they took')
  t.ok(report.durationSecs >= 1 && report.throughput <= 200, 'the time after the last operation counts')
  t.equal(report.workload.loop, 'open')
  t.ok(
    report.latencyUs.all.intended.max >= report.latencyUs.all.service.max,
    'the intended start is never after the start',
  )
})

t.test('a sweep, and a file with phases', async (t) => {
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
  t.match(htmlReport(sweep), /swept over concurrency[^]*<svg/)
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

t.test('a collection with documents is left alone', async (t) => {
  const options = { ...small(), operations: 10, workload: 'c' }
  await runLoad(options)
  await t.rejects(runLoad(options), { name: 'OptionError', message: /holds documents/ })
  passed(t, await runLoad({ ...options, drop: true }), 'drop')
})

t.test('chunks that move during the run', async (t) => {
  const { operations: _, ...options } = {
    ...small(),
    workload: 'a',
    shardKey: '_id:1',
    engine: 'wire' as const,
    durationSecs: 1.5,
  }
  let resolve = (): void => {}
  const begun = new Promise<void>((begin) => (resolve = begin))
  const run = runLoad({ ...options, onProgress: ({ phase, done }) => phase === 'run' && done > 0 && resolve() })
  await begun
  for (const find of [{ _id: 'user0000000001' }, { _id: 'user4290000000' }])
    await world.admin({ moveChunk: options.ns, find, to: 'shard02' })
  const report = await run
  t.equal(report.endCheck.ok, true, report.endCheck.examples.join('; '))
  t.equal(report.errors.total, 0, JSON.stringify(report.errors.byCode))
})

t.test('what the server does not understand is refused before a record is written', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-load-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'w.yaml')
  const { uri, ns } = small()
  for (const [operation, message] of [
    [
      '{ do: find, filter: { n: { $near2: 1 } } }',
      /^operations\.odd: the server refuses it: unknown operator: \$near2$/,
    ],
    [
      '{ do: count, filter: { $and: [] } }',
      /^operations\.odd: the server refuses it: \$and\/\$or\/\$nor must be a nonempty array$/,
    ],
    [
      '{ do: aggregate, by: [_id], pipeline: [{ $odd: 1 }] }',
      /^operations\.odd: the server refuses it: Unrecognized pipeline stage name: '\$odd'$/,
    ],
  ] as const) {
    writeFileSync(path, `name: odd\nrecord: { n: { $int: [0, 9] } }\noperations: { odd: ${operation} }`)
    await t.rejects(runLoad({ uri, ns, workload: path }), { name: 'OptionError', message })
  }
  const [database, collection] = ns.split('.') as [string, string]
  t.equal(await world.client.db(database).collection(collection).countDocuments(), 0)
})

t.test('errors by code, and what the driver repeats by itself', async (t) => {
  const failUpdates = (times: number, data: Document) =>
    world.admin({ configureFailPoint: 'failCommand', mode: { times }, data: { failCommands: ['update'], ...data } })
  await failUpdates(1, { errorCode: 189, errorLabels: ['RetryableWriteError'] })
  const repeated = await runLoad({ ...small(), workload: 'a' })
  passed(t, repeated, 'driver')
  t.equal(repeated.retries, 1)
  await failUpdates(3, { errorCode: 2 })
  const failed = await runLoad({ ...small(), workload: 'a', engine: 'wire' })
  t.same(failed.errors, { total: 3, byCode: { 'BadValue 2': { update: 3 } } })
  t.match(failed, {
    retries: 0,
    endCheck: { ok: true, unknownOutcomes: 3 },
    latencyUs: { byOperation: { update: { errors: 3 } } },
  })
})

t.test('a shard crashes in the middle: errors with codes, nothing acknowledged is lost', async (t) => {
  await using cluster = await ShardedCluster.start({
    ...{ runtime: 'inline', shards: 2, balancerRoundIntervalMs: 2 ** 31 - 1, findReplicaSetHostTimeoutMs: 50 },
  })
  const options = { ...small(), uri: cluster.uri, engine: 'wire' as const, workload: 'route-mix' }
  // Faults without a duration are healed before the final check.
  const report = await runLoad({ ...options, operations: 1500, faults: ['crash shard02', 'pause shard01 at 1h'] })
  t.same(cluster.faults.list(), [])
  t.equal(report.endCheck.ok, true, report.endCheck.examples.join('; '))
  t.ok(report.errors.total > 0)
  t.ok(report.latencyUs.failed)
  for (const code of Object.keys(report.errors.byCode)) t.match(code, /^[A-Z]\w+ \d+$/, code)
  const [crash, pause] = report.marks
  t.match(report.marks, [
    { text: 'crash shard02' },
    { text: /^pause shard01: not applied, the operations had ended$/, untilSecs: null },
  ])
  t.equal(crash!.untilSecs, report.durationSecs)
  t.equal(pause!.atSecs, report.durationSecs)
  t.match(textReport(report), /Errors\n[^]*On the timeline\n +\d+\.\d to \d+\.\d s +crash shard02/)
  t.match(htmlReport(report), /<rect class="band"/)
  await t.rejects(runLoad({ ...options, ns: 'load.again', operations: 10_000, faults: ['crash shard99'] }), {
    name: 'OptionError',
    message: /^the fault "crash shard99" was refused/,
  })
})

t.test('a line in a chart is interrupted where nothing was answered, and an interval by itself is a dot', async (t) => {
  const y = [10, 20, Number.NaN, 30, Number.NaN]
  const line = { name: 'p99', tone: 's1', points: y.map((value, x) => [x, value] as const) }
  const chart = lineChart([line], { title: 'latency', xLabel: '', yLabel: '', xShown: String, yShown: String })
  const [, path] = /<path class="line s1" d="([^"]*)"/.exec(chart)!
  t.match(path, /^M[\d. ]+L[\d. ]+M[\d. ]+$/)
  t.equal(chart.match(/<circle/g)!.length, 1)
  t.notMatch(chart, /NaN/)
})

t.test("the guide's workload files are some", async (t) => {
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

t.test('the command line', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-load-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const [json, html] = [join(folder, 'a.json'), join(folder, 'a.html')]
  const args = [
    'load',
    '--workload',
    'route-mix',
    '--records',
    '50',
    '--operations',
    '200',
    '--warm-up',
    '0',
    '--drop',
    '--uri',
    world.cluster.uri,
    '--ns',
    'load.cli',
  ]
  const fine = await shardlab(
    ...args,
    '--engine',
    'wire',
    '--expect',
    'errors==0',
    '--expect',
    'p99(targeted)<60s',
    '--json',
    json,
    '--html',
    html,
  )
  t.equal(fine.code, 0, fine.stderr)
  t.match(
    fine.stdout,
    /200 operations[^]*targeted[^]*End check: every acknowledged write is there[^]*emulator's absolute speed/,
  )
  t.match(readFileSync(html, 'utf8'), /^<!doctype html>[^]*<svg[^]*What was measured/)
  t.notMatch(readFileSync(html, 'utf8'), /https?:\/\//, 'nothing from a network')
  const report = JSON.parse(readFileSync(json, 'utf8')) as LoadReport
  t.match(report, {
    operations: 200,
    errors: { total: 0 },
    throughput: Number,
    latencyUs: { byOperation: { targeted: {} }, byRoutingClass: { targeted: {} } },
    perShard: { shard01: {} },
    endCheck: { ok: true },
  })
  t.match(compareReports(report, parseReport(readFileSync(json, 'utf8'), json), ['a', 'b']), /throughput[^]* 1\.00/)
  const hollow = { name: 'OptionError', message: /^b\.json is not a whole report: measured is not as it should be$/ }
  t.throws(() => parseReport('{"shardlabLoad":1}', 'b.json'), hollow)
  t.throws(() => parseReport('{}', 'b.json'), {
    name: 'OptionError',
    message: 'b.json is not a report of shardlab load',
  })
  const sentence = async (text: RegExp, ...words: string[]) => {
    const { code, stdout, stderr } = await shardlab('load', ...words)
    t.match({ code, stdout, stderr }, { code: 2, stdout: '', stderr: text })
  }
  await Promise.all([
    sentence(
      /^shardlab: [^\n]*none\/a\.json cannot be written: ENOENT\.\n$/,
      '--uri',
      world.cluster.uri,
      '--json',
      join(folder, 'none/a.json'),
    ),
    sentence(/^shardlab: the sweep sets shards: [^\n]*\n$/, '--up', '--shards 4', '--sweep', 'shards=1,2'),
    sentence(
      /^shardlab: --compare reads two reports[^\n]*: remove --uri\n$/,
      '--uri',
      world.cluster.uri,
      '--compare',
      json,
      json,
    ),
    sentence(
      /^shardlab: the fault "crash shard9" was refused: [^\n]*\n$/,
      '--uri',
      world.cluster.uri,
      '--ns',
      'load.f',
      '--fault',
      'crash shard9 at 5s',
    ),
  ])
  const failed = await shardlab(...args, '--expect', 'p50<1us', '--quiet')
  t.equal(failed.code, 1)
  t.match(failed.stderr, /^shardlab: expected p50<1us, but it is \d+us\n$/)
  const unreachable = await shardlab('load', '--uri', 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100')
  t.equal(unreachable.code, 2)
  t.match(unreachable.stderr, /^shardlab: nothing answers at [^\n]*\n$/)
})
