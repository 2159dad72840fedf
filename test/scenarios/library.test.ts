/**
 * The scenarios of the library meet their expectations, and a result depends only on file and seed.
 */
import {
  findScenario,
  listScenarios,
  parseScenario,
  reportOf,
  runScenario,
  runVariant,
  scenarioPage,
  textReport,
  type VariantRun,
} from '@shardlab/scenario'
import { partsOf } from '@shardlab/report/testing'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import { Worker } from 'node:worker_threads'
import t from 'tap'

const cli = fileURLToPath(new URL('../../../packages/shardlab/bin/shardlab.js', import.meta.url))

/** False: only the first variant of every sixth scenario runs. */
const isLong = process.env['SHARDLAB_LONG'] === '1'

for (const { name, shows } of listScenarios().filter((_, i) => isLong || i % 6 === 0))
  t.test(`the scenario ${name} meets its expectations`, async (t) => {
    const { path, text } = findScenario(name)
    t.ok(shows.length > 0 && text.startsWith('# '), 'the file says what it shows')
    const file = parseScenario(text, path)
    // In this thread: starting a thread takes longer than a small scenario.
    const runs: VariantRun[] = []
    for (const variant of isLong ? file.variants : file.variants.slice(0, 1)) runs.push(await runVariant(variant))
    for (const { result } of runs) {
      t.ok(
        file.variants.find((variant) => variant.name === result.name)!.expect.length > 0,
        'every variant has expectations',
      )
      t.same([...result.failedExpectations, ...result.failedSteps], [], result.name)
    }
    const page = scenarioPage(file, runs)
    t.strictSame(JSON.parse(JSON.stringify(page)), page, 'JSON keeps all of the page')
    t.match(textReport(file, runs), shows)
  })

t.test('the examples of the guides with several keys are valid scenarios without warnings', async (t) => {
  for (const page of ['simulate', 'plan-a-cluster']) {
    const guide = readFileSync(new URL(`../../../docs/guides/${page}.md`, import.meta.url), 'utf8')
    const examples = [...guide.matchAll(/```yaml\n(version: 1\n.*?)```/gs)].filter(
      ([, text]) => text!.includes('fields:') && text!.includes('variants:'),
    )
    t.equal(examples.length, 1, page)
    const { variants, warnings } = parseScenario(examples[0]![1]!, `${page}.md`)
    t.same([variants.length, warnings], [3, []])
  }
})

t.test('the example of the guide is a valid scenario', async (t) => {
  const guide = readFileSync(new URL('../../../docs/guides/simulate.md', import.meta.url), 'utf8')
  const [, example] = /```yaml\n(.*?)```/s.exec(guide)!
  for (const [, yaml] of guide.matchAll(/```yaml\n(version: 1\n.*?)```/gs)) parseScenario(yaml!, 'guide')
  t.same(
    parseScenario(example!, 'guide').variants.map(({ name }) => name),
    ['ranged', 'hashed', 'before data size counted'],
  )
})

const small = `version: 1
seed: 3
cluster: { shards: 2, mongos: 2, chunkSize: 16KB }
collections:
  - { ns: a.b, key: { k: 1 } }
data:
  - { ns: a.b, size: 100KB, documentSize: 500B, keys: { distribution: uniform, cardinality: 1000 } }
workload:
  - { ns: a.b, rate: 4/s, mix: { insert: 0.3, findByKey: 0.3, findRange: 0.2, findOther: 0.1, updateByKey: 0.1 }, keys: { distribution: uniform, cardinality: 1000 } }
timeline:
  - { at: 5s, do: delay between everybody and shard02 by 5ms..20ms for 5s }
  - { at: 10s, do: command, command: { split: a.b, middle: { k: 999 } } }
  - { at: 11s, do: command, command: { moveChunk: a.b, find: { k: 999 }, to: nowhere } }
  - { at: 12s, do: workload, ns: a.b, rate: 0/s }
  - { at: 13s, do: command, db: a, command: { count: b, query: { k: none } }, answers: { n: 0, ok: 1.0 } }
  - { at: 14s, do: command, db: a, command: { count: b, query: { k: none } }, answers: { n: 1 } }
duration: 20s
expect:
  - bytesMoved < 1KB
`

t.test('a large scenario runs on a thread, with the same result as in this thread', async (t) => {
  const file = parseScenario(
    `version: 1
seed: 8
emulate: "4.4"
cluster: { shards: 100 }
collections: [{ ns: a.b, key: { k: hashed }, mode: metadata, numInitialChunks: 1100 }]
data: [{ ns: a.b, size: 1GB, keys: { distribution: uniform } }]
timeline: [{ at: 10s, do: addShard, count: 10 }]
duration: 60s
`,
    'large.yaml',
  )
  const shares: number[] = []
  const source = '(x) => x + 1'
  const workerData = { source, cachedData: new Script(source).createCachedData() }
  const [run] = await runScenario(file, ({ share }) => shares.push(share))
  // This thread would not check the cached data: it has compiled the source already.
  const worker = new Worker(
    `const { parentPort, workerData: { source, cachedData } } = require('node:worker_threads')
    parentPort.postMessage(new (require('node:vm').Script)(source, { cachedData }).cachedDataRejected)`,
    { eval: true, workerData },
  )
  t.same(await once(worker, 'message'), [false], 'cached code is accepted, so the flags of the engine are restored')
  t.ok(run!.result.migrations.total > 0)
  t.same(run!.result, (await runVariant(file.variants[0]!)).result)
  t.equal(shares.at(-1), 1)
})

t.test('a stopped run reports its results until then', async (t) => {
  const file = parseScenario(small.replace('duration: 20s', 'duration: 30m'), 'small.yaml')
  const stopAt = (share: number) => {
    const stop = new AbortController()
    return runScenario(file, (progress) => progress.share >= share && stop.abort(), { stop: stop.signal })
  }
  const [run, ...others] = await stopAt(0.3)
  t.same(others, [])
  t.equal(run!.interrupted, true)
  const { durationMs, failedExpectations, migrations } = run!.result
  t.ok(durationMs > 0 && durationMs < 1_800_000, `${durationMs} ms`)
  t.equal(durationMs, run!.samples.at(-1)!.atMs)
  t.ok(migrations.total > 0)
  t.same(failedExpectations, [], 'expectations apply only to complete runs')
  t.match(textReport(file, [run!]), /scenario was interrupted after .* of 30m; its expectations were not checked\./)
  t.match(partsOf(scenarioPage(file, [run!]), 'list'), [{ items: [/^scenario was interrupted after/] }])
  t.match(reportOf(file, [run!]).variants, [{ interrupted: true, durationMs }])
  const before = new AbortController()
  before.abort()
  t.same(await runScenario(file, () => {}, { stop: before.signal }), [], 'variants that did not start have no result')
})

t.test('equal files and seeds give equal results, another seed gives another result', async (t) => {
  const file = parseScenario(small, 'small.yaml')
  const one = await runVariant(file.variants[0]!)
  // Several variants run on threads.
  const shares: number[] = []
  const both = { ...file, variants: [file.variants[0]!, { ...file.variants[0]!, name: 'other', seed: 4 }] }
  const [two, other] = await runScenario(both, ({ share }) => shares.push(share))
  t.same(one.result, two!.result)
  t.equal(other!.result.name, 'other')
  t.not(other!.result.traceHash, one.result.traceHash)
  const seldom = await runVariant({ ...file.variants[0]!, tick: 7000 })
  t.equal(seldom.samples.length, 4)
  t.equal(seldom.result.traceHash, one.result.traceHash, 'measuring changes nothing')
  t.ok(
    shares.every((share, i) => share <= 1 && (i === 0 || share >= shares[i - 1]!)),
    'progress never decreases',
  )
  const { result, samples } = one
  t.match(reportOf(file, [one]), { version: 1, seed: 3, variants: [{ name: 'scenario', traceHash: result.traceHash }] })
  t.ok(result.migrations.byReason.chunksImbalance > 0)
  t.equal(result.migrations.total, result.migrations.byReason.chunksImbalance)
  t.ok(result.bytesMovedLeast <= result.bytesMoved)
  t.match(result.failedExpectations, [{ expect: 'bytesMoved < 1KB', actual: result.bytesMoved }])
  t.match(result.failedSteps, [
    {
      atMs: 11_000,
      step: 'command {"moveChunk":"a.b","find":{"k":999},"to":"nowhere"}',
      error: /^moveChunk destination shard does not exist/,
    },
    { atMs: 14_000, error: 'n of the reply is 0, not 1' },
  ])
  const { routed, total, failed } = result.operations
  t.ok(total > 20 && failed === 0 && routed.targeted > 0.5 && routed.broadcast > 0)
  t.ok(Math.abs(routed.targeted + routed.multi + routed.broadcast - 1) < 1e-5)
  const owned = Object.values(samples[0]!.shards).reduce((sum, { bytes }) => sum + bytes, 0)
  t.ok(Math.abs(owned - 100 * 1024) < 10 * 1024, `${owned} bytes at the beginning`)
  t.equal(samples.at(-1)!.succeeded, 0, 'no operations are sent after the rate became 0')
})

t.test('an error of the cluster during the set-up is reported', async (t) => {
  const file = parseScenario(small.replace('key: { k: 1 }', 'key: { k: hashed }, unique: true'), 'small.yaml')
  await t.rejects(runVariant(file.variants[0]!), {
    name: 'ScenarioError',
    message: /^shardCollection failed: .*unique/i,
  })
})

t.test('the command line writes page, numbers and tables, and exits with 2 for an invalid policy', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'shardlab-simulate-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const at = (name: string): string => join(directory, name)
  const shardlab = (
    ...args: string[]
  ): { readonly code: number | null; readonly out: string; readonly error: string } => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'simulate', ...args], { encoding: 'utf8' })
    return { code: status, out: stdout, error: stderr }
  }
  const files = ['--report', at('page.html'), '--json', at('numbers.json'), '--csv', at('some/tables')]
  const { code, out, error } = shardlab(
    'same-id-twice',
    '--variant',
    'another key',
    '--seed',
    '9',
    '--explain',
    ...files,
  )
  t.match([code, error], [0, ''])
  t.match(out, /failed as expected: .*\(code 96\)/)
  t.match(readFileSync(at('page.html'), 'utf8'), '<title>same-id-twice</title>')
  t.match(JSON.parse(readFileSync(at('numbers.json'), 'utf8')), {
    version: 1,
    seed: 9,
    variants: [{ name: 'another key', migrations: { aborted: 1 } }],
  })
  t.same(readdirSync(at('some/tables')).sort(), ['decisions.csv', 'results.csv', 'samples.csv'])
  writeFileSync(at('own.yaml'), small.replace('duration: 20s', 'duration: 20s\npolicy: ./own.mjs'))
  writeFileSync(at('own.mjs'), 'export default () => [{ chunk: 0, to: "shard07" }]')
  t.match(shardlab(at('own.yaml'), '--allow-code'), {
    code: 2,
    error: /^shardlab: .*own\.yaml: the policy .*own\.mjs, called for a\.b: move 0 has to: "shard07"/,
  })
})

t.test('a name that is neither a file nor a scenario of the library is an error', async (t) => {
  t.throws(() => findScenario('no-such'), {
    name: 'OptionError',
    message: /there is no scenario file no-such, and no scenario of the library has that name \(add-two-shards, /,
  })
})
