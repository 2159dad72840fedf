import t from 'tap'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtInWorkloads, loadPage, OptionError, runLoad, textReport } from '@shardlab/load'
import { chartOf, partsOf } from '@shardlab/report/testing'
import { ErrorCodes, type Document } from '@shardlab/bson'
import { ShardedCluster } from 'shardlab'
import { TestCluster } from '../support/clusters.js'
import { passed, smallRun } from './small-run.js'

const world = await TestCluster.start('7.0')
t.teardown(() => world.stop())
const small = () => smallRun(world.cluster.uri)

t.test('the built-in workloads pass, and both engines run every kind of operation', async (t) => {
  const transactions = ['transactions', 'transactions-one-shard', 'transactions-across-shards']
  t.same(builtInWorkloads, ['a', 'b', 'c', 'd', 'e', 'f', 'route-mix', ...transactions])
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

t.test('transactions are counted by commit path, with their aborts', async (t) => {
  const one = await runLoad({ ...small(), operations: 60, workload: 'transactions-one-shard', transactionReads: 1 })
  passed(t, one, 'one shard')
  t.match(one.transactions, { committed: 60, commitLatencyUs: { p50: Number, max: Number } })
  t.same(one.transactions?.commitPaths, { singleShard: 60 })
  t.same(Object.keys(one.latencyUs.byRoutingClass), ['targeted'])
  const hot = { ...small(), records: 48, operations: 60, concurrency: 4, workload: 'transactions-across-shards' }
  const across = await runLoad({ ...hot, transactionReads: 0, transactionWrites: 4, threads: 1 })
  passed(t, across, 'across shards')
  const { committed, aborts, retries, commitPaths } = across.transactions!
  t.equal(committed, 60)
  t.ok(aborts.total > 0 && retries === aborts.total, `${aborts.total} aborts, ${retries} retries`)
  t.ok(aborts.byCode['WriteConflict 112']! > 0)
  t.equal(
    Object.values(commitPaths!).reduce((sum, count) => sum + count, 0),
    60,
    JSON.stringify(commitPaths),
  )
  t.ok(commitPaths!['twoPhaseCommit']! > 10)
  t.match(textReport(across), /Transactions\n {2}60 committed; \d+ runs? aborted \(.*WriteConflict 112: \d+/)
  t.match(textReport(across), /commit paths: .*twoPhaseCommit \d+/)
  t.ok(partsOf(loadPage(across), 'heading').some(({ text }) => text === 'Transactions'))
  for (const [options, message] of [
    [{ engine: 'wire' }, /the engine wire has no sessions/],
    [{ transactionReads: 0, transactionWrites: 0 }, /reads: must be above 0, or writes must/],
    [{ workload: 'a', transactionReads: 1 }, /the workload a has no transactions/],
    [{ transactionReads: 99 }, /must be fewer: with the writes, 101 records of 48/],
  ] as const)
    await t.rejects(runLoad({ ...hot, drop: true, ...options }), { name: 'OptionError', message }, message.source)
})

t.test('a commit after which the driver runs the transaction again is an abort', async (t) => {
  await world.client.db('admin').command({
    configureFailPoint: 'failCommand',
    mode: { times: 2 },
    data: {
      failCommands: ['commitTransaction'],
      errorCode: ErrorCodes.NoSuchTransaction,
      errorLabels: ['TransientTransactionError'],
    },
  })
  // Alone: write conflicts would be aborts, too.
  const report = await runLoad({ ...small(), operations: 20, concurrency: 1, workload: 'transactions-one-shard' })
  passed(t, report, 'one shard')
  t.match(report.transactions, {
    committed: 20,
    retries: 2,
    aborts: { total: 2, byCode: { 'NoSuchTransaction 251': 2 } },
  })
})

t.test('load runs on worker threads with several operations per connection', async (t) => {
  const report = await runLoad({ ...small(), workload: 'a', engine: 'wire', threads: 2, concurrency: 16, pipeline: 4 })
  passed(t, report, 'wire')
  const measured = { threads: 2, id: /^[2-9a-z]{8}$/ }
  t.match(report, { operations: 200, measured, workload: { pipeline: 4 } })
  await t.rejects(
    runLoad({ ...small(), operations: 100_000, threads: 1, engine: 'wire', faults: ['crash shard99'] }),
    OptionError,
    'ends at once',
  )
})

t.test("the report's routing classes equal the router's", async (t) => {
  const options = { ...small(), workload: 'route-mix', operations: 800, ns: 'load.classes' }
  const kinds: Record<string, number> = {}
  const shards: Record<string, number> = {}
  let loaded = false
  world.cluster.on('routed', ({ ns, kind, shards: asked, command }) => {
    if (ns !== options.ns || !loaded || command === 'createIndexes') return
    kinds[kind] = (kinds[kind] ?? 0) + 1
    for (const shard of asked) shards[shard] = (shards[shard] ?? 0) + 1
  })
  const report = await runLoad({ ...options, check: false, onProgress: ({ phase }) => (loaded ||= phase === 'run') })
  for (const router of world.cluster.members().filter(({ role }) => role === 'mongos'))
    await world.cluster.describe(router.address)
  const classes = Object.fromEntries(
    Object.entries(report.latencyUs.byRoutingClass).map(([name, { count }]) => [name, count]),
  )
  // Shares, because an operation may be routed again.
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

t.test('an open loop keeps its rate and reports both latencies', async (t) => {
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

t.test('a load test refuses a collection with documents', async (t) => {
  const options = { ...small(), operations: 10, workload: 'c' }
  await runLoad(options)
  await t.rejects(runLoad(options), { name: 'OptionError', message: /holds documents/ })
  passed(t, await runLoad({ ...options, drop: true }), 'drop')
})

t.test('chunks that move during the run cause no errors', async (t) => {
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

t.test('operations that the server rejects are refused before a record is written', async (t) => {
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

t.test("the report counts errors by code and the driver's retries", async (t) => {
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

t.test('a fault whose answer is cut is applied once, and is no error', async (t) => {
  await using cluster = await ShardedCluster.start({ runtime: 'inline', shards: 2 })
  let restarts = 0
  cluster.on('fault-applied', ({ fault }) => {
    if (fault.startsWith('restart')) restarts++
  })
  const report = await runLoad({
    ...{ ...small(), uri: cluster.uri, engine: 'wire', workload: 'a', operations: 3000 },
    faults: ['cut replies of mongos01 to clients for 500ms', 'restart shard02 at 100ms'],
  })
  t.match(report.marks.map(({ text }) => text).toSorted(), [/^cut/, 'restart shard02'])
  t.equal(restarts, 1)
  t.equal(report.endCheck.ok, true, report.endCheck.examples.join('; '))
})

t.test('a short crash of the only router has an end on the timeline', async (t) => {
  await using cluster = await ShardedCluster.start({ runtime: 'inline', shards: 1 })
  const report = await runLoad({
    ...{ ...small(), uri: cluster.uri, engine: 'wire', workload: 'a', operations: 20_000 },
    faults: ['crash mongos01 for 50ms'],
  })
  const { atSecs, untilSecs } = report.marks[0]!
  t.equal(Math.round((untilSecs! - atSecs) * 1000), 50)
  t.equal(report.endCheck.ok, true, report.endCheck.examples.join('; '))
})

t.test('a crash of a shard causes errors with codes and loses no acknowledged write', async (t) => {
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
  t.match(chartOf(loadPage(report), 'Throughput').marks, [{ text: 'crash shard02', until: report.durationSecs }])
  await t.rejects(runLoad({ ...options, ns: 'load.again', operations: 10_000, faults: ['crash shard99'] }), {
    name: 'OptionError',
    message: /^the fault "crash shard99" was refused/,
  })
})
