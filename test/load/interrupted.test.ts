/**
 * Load tests that are stopped early report what they measured so far, and mark the report as
 * partial.
 */
import t from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { compareReports, loadPage, runLoad, textReport, type LoadOptions } from '@shardlab/load'
import { partsOf } from '@shardlab/report/testing'
import { ShardedCluster } from 'shardlab'
import { passed, smallRun } from './small-run.js'
import { StubServer } from './stub-server.js'

const bin = fileURLToPath(new URL('../../../packages/shardlab/bin/shardlab.js', import.meta.url))
const stub = await StubServer.start()
t.teardown(() => stub.stop())
const long = (): LoadOptions => {
  const { operations: _, ...options } = smallRun(stub.uri)
  return { ...options, workload: 'a', durationSecs: 3600, drop: true }
}

/** Calls `act` after `count` further finds or inserts. */
function after(name: 'find' | 'insert', count: number, act: () => void): void {
  let left = count
  stub.onCommand = (come) => {
    if (come === name && --left === 0) act()
  }
}

t.test('a stopped load test checks and reports the completed operations', async (t) => {
  for (const more of [{ engine: 'wire', threads: 2 }, { engine: 'driver' }, { engine: 'wire', rate: 400 }] as const) {
    const stop = new AbortController()
    after('find', 60, () => stop.abort())
    const report = await runLoad({ ...long(), ...more, stop: stop.signal })
    passed(t, report, JSON.stringify(more))
    t.equal(report.interrupted, true)
    t.ok(report.operations > 60 && report.durationSecs < 3600, `${report.operations} operations`)
    t.match(report.marks, [{ text: 'interrupted', untilSecs: null }])
    t.match(textReport(report), /^Interrupted: [^]*End check: every acknowledged write is there/)
    t.ok(
      partsOf(loadPage(report), 'paragraph').some(
        ({ text, tone }) => String(text).startsWith('Interrupted: ') && tone === 'bad',
      ),
    )
    t.match(
      compareReports(report, { ...report, interrupted: false }, ['x', 'y']),
      /^a: x, .*, checked, interrupted\nb: y, .*, checked\n/,
    )
  }
})

t.test('a stopped open loop does not wait for an operation that is due in an hour', async (t) => {
  const stop = new AbortController()
  after('find', 1, () => stop.abort())
  const report = await runLoad({ ...long(), workload: 'c', rate: 0.001, stop: stop.signal })
  t.match(report, { operations: 1, notBegun: 0, interrupted: true })
  t.match(textReport(report), /open loop, 0\.001 a second/)
})

t.test('a second signal waits neither for operations in flight nor for the check', async (t) => {
  const [stop, hurry] = [new AbortController(), new AbortController()]
  const held = await StubServer.start()
  t.teardown(() => held.stop())
  held.stallAfter = 30
  held.onCommand = (name, count) => {
    if (name !== 'find' || count !== 30) return
    stop.abort()
    hurry.abort()
  }
  const report = await runLoad({ ...long(), uri: held.uri, workload: 'c', stop: stop.signal, hurry: hurry.signal })
  t.equal(held.isStalled, true, 'there are no answers yet')
  t.match(report, { interrupted: true, endCheck: { ok: null, leftOut: 'interrupted' } })
  t.match(textReport(report), /\nEnd check: interrupted\n/)
})

t.test('a second signal ends the wait for a silent mongos', async (t) => {
  await using cluster = await ShardedCluster.start({ runtime: 'inline', shards: 1 })
  const { faults } = cluster
  const [stop, hurry] = [new AbortController(), new AbortController()]
  let isPausing = false
  const pause = async (): Promise<void> => {
    await faults.apply('pause mongos01 for 20s')
    stop.abort()
    hurry.abort()
  }
  const onProgress: LoadOptions['onProgress'] = ({ phase, done }) => {
    if (phase !== 'run' || done === 0 || isPausing) return
    isPausing = true
    void pause()
  }
  const report = await runLoad({
    ...long(),
    uri: cluster.uri,
    workload: 'c',
    onProgress,
    stop: stop.signal,
    hurry: hurry.signal,
  })
  t.equal(faults.list().length, 1, 'it is silent still')
  t.match(report, {
    interrupted: true,
    measured: { notLearned: [/^whether chunks moved during the run .*: interrupted$/] },
  })
  await faults.heal()
})

t.test('a load test that stops before its first measured operation has no report', async (t) => {
  const stop = new AbortController()
  await t.rejects(runLoad({ ...long(), stop: AbortSignal.abort() }), { name: 'InterruptedError' })
  after('insert', 2, () => stop.abort())
  await t.rejects(
    runLoad({ ...long(), records: 50_000, stop: stop.signal }),
    { name: 'InterruptedError' },
    'while records are loaded',
  )
  const connecting = new AbortController()
  const silent = createServer(() => connecting.abort()).listen(0, '127.0.0.1')
  t.teardown(() => silent.close())
  await once(silent, 'listening')
  const uri = `mongodb://127.0.0.1:${(silent.address() as AddressInfo).port}/`
  await t.rejects(
    runLoad({ ...long(), uri, stop: connecting.signal }),
    { name: 'InterruptedError' },
    'while the server does not answer',
  )
})

t.test('a stopped sweep keeps its completed steps', async (t) => {
  const stop = new AbortController()
  const { durationSecs: _, ...options } = long()
  const run = { ...options, workload: 'c', operations: 60, sweep: 'concurrency=1..64' }
  // Each step checks once whether the collection is empty, 60 times in the run, once in the final
  // check.
  after('find', 150, () => stop.abort())
  const report = await runLoad({ ...run, stop: stop.signal })
  t.ok(report.interrupted)
  t.same(
    report.sweep!.steps.map(({ value, report: step }) => [value, step.interrupted, step.endCheck.ok]),
    [
      [1, false, true],
      [2, false, true],
      [4, true, true],
    ],
  )
  t.match(textReport(report), /^Interrupted at concurrency=4: /)
})

t.test('Ctrl-C counts once when the launcher repeats the signal', async (t) => {
  const args = [
    'load',
    '--uri',
    stub.uri,
    '--workload',
    'c',
    '--records',
    '100',
    '--warm-up',
    '0',
    '--duration',
    '1h',
    '--drop',
  ]
  const child = spawn(process.execPath, [bin, ...args, '--expect', 'operations>1000000'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  after('find', 100, () => {
    child.kill('SIGINT')
    child.kill('SIGINT')
  })
  const said = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (said[0] += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said[1] += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  t.equal(code, 130)
  t.match(said[0], /^Interrupted: [^]*End check: every acknowledged write is there/)
  t.match(said[1], /^shardlab: interrupted: [^\n]*\nshardlab: expected operations>1000000, but it is \d+\n$/)
})
