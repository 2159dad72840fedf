/** Load tests of servers that are not Shardlab clusters, given only their URI. */
import t from 'tap'
import { loadPage, OptionError, runLoad, textReport } from '@shardlab/load'
import { partsOf } from '@shardlab/report/testing'
import { passed, smallRun } from './small-run.js'
import { StubServer } from './stub-server.js'

t.test('a server that is not Shardlab is measured by URI alone', async (t) => {
  const stub = await StubServer.start()
  t.teardown(() => stub.stop())
  const options = {
    uri: stub.uri,
    workload: 'f',
    records: 100,
    operations: 600,
    warmUpSecs: 0,
    threads: 0,
    fieldCount: 2,
    fieldLength: 20,
    drop: true,
  }
  for (const engine of ['driver', 'wire'] as const) {
    const report = await runLoad({ ...options, engine })
    passed(t, report, engine)
    t.match(report.measured, {
      server: 'a server that calls itself MongoDB 7.0.0',
      isEmulator: false,
      topology: 'single',
    })
    t.same(Object.keys(report.latencyUs.byRoutingClass), ['unrouted'])
    t.same(report.perShard, {})
  }
  stub.forgetEvery = 10
  const report = await runLoad({ ...options, engine: 'wire' })
  t.equal(report.errors.total, 0, 'it was fast, and it said yes')
  t.equal(report.endCheck.ok, false)
  t.ok(report.endCheck.stale > 0, `${report.endCheck.stale} updates were lost`)
  await t.rejects(runLoad({ ...options, faults: ['crash shard01'] }), OptionError)
  await t.rejects(runLoad({ ...options, uri: `${stub.uri}&w=0` }), {
    name: 'OptionError',
    message: /^with w=0 nothing is acknowledged/,
  })
  const withPassword = stub.uri.replace('//', '//user:secret@')
  await t.rejects(runLoad({ ...options, uri: withPassword, engine: 'wire' }), {
    name: 'OptionError',
    message: /^mongodb:\/\/user:\*\*\*@/,
  })
})

t.test('if a mongos refuses commands about the cluster, the report names the missing facts', async (t) => {
  const stub = await StubServer.start()
  t.teardown(() => stub.stop())
  stub.isSilentMongos = true
  const options = { ...smallRun(stub.uri), workload: 'a' }
  await t.rejects(runLoad(options), { name: 'OptionError', message: /cannot be sharded by [^]*--shard-key none/ })
  const report = await runLoad({ ...options, shardKey: 'none' })
  passed(t, report, 'silent')
  t.same(Object.keys(report.latencyUs.byRoutingClass), ['unknown'])
  t.match(report.measured, { server: 'a server that calls itself MongoDB of unknown version', topology: 'sharded' })
  const missing = [
    /^the server's version \(buildInfo\): not authorized on admin$/,
    /^where operations go, .*: not authorized on config$/,
    /^what the shards themselves counted .*: not authorized on config$/,
    /^which operations waited in a critical section \(config\.changelog\): not authorized on config$/,
  ]
  t.match(report.measured.notLearned, missing)
  t.equal(report.measured.notLearned.length, missing.length)
  t.match(textReport(report), /\n {2}not learned: where operations go/)
  t.match(partsOf(loadPage(report), 'list').at(-1)!.items, missing)
})

t.test(
  'after a stall, an open loop counts the wait of all operations that were due, not only those in flight',
  async (t) => {
    const stub = await StubServer.start()
    t.teardown(() => stub.stop())
    stub.stallAfter = 100
    const { operations: _, ...options } = {
      ...smallRun(stub.uri),
      workload: 'c',
      engine: 'wire' as const,
      concurrency: 2,
    }
    const report = await runLoad({ ...options, rate: 200, durationSecs: 2 })
    t.equal(report.operations + report.notBegun, 400, 'due operations are done or reported')
    passed(t, report, 'stall')
    t.ok(report.operations > 300, `${report.operations} of 400 operations`)
    const { intended, service } = report.latencyUs.all
    t.ok(service.max > 900_000 && intended.max > 900_000, 'both clocks saw the second')
    // 200 operations were due in that second, and at most two were in flight.
    t.ok(intended.p90 > 300_000, `a tenth of all waited for more than ${intended.p90} µs`)
    t.ok(service.p90 < intended.p90 / 2, `the sending hides it: ${service.p90} µs`)
  },
)
