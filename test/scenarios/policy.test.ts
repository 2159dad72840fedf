/** Policies in scenarios: the example of the guide, and invalid ones. */
import { csvFiles, parseScenario, runVariant, type VariantRun } from '@shardlab/scenario'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'

const directory = mkdtempSync(join(tmpdir(), 'shardlab-policy-'))
t.teardown(() => rmSync(directory, { recursive: true }))

const scenario = (more: string): string => `version: 1
cluster: { shards: 2, chunkSize: 16KB }
collections:
  - { ns: shop.orders, key: { customer: 1 }, splitAt: [100, 200, 300, 400, 500] }
data:
  - { ns: shop.orders, size: 60KB, documentSize: 1KB, keys: { distribution: uniform, cardinality: 600 } }
timeline:
  - { at: 1s, do: addShard }
duration: 30s
${more}`

let files = 0
/** Runs a scenario with a policy that has this source. */
function runWith(source: string, more = '', policy: { answerMs?: number; loadMs?: number } = {}): Promise<VariantRun> {
  const name = `policy-${++files}.mjs`
  writeFileSync(join(directory, name), source)
  return runVariant(
    parseScenario(scenario(`policy: ./${name}\n${more}`), join(directory, 'own.yaml')).variants[0]!,
    () => {},
    { policy, allowCode: true },
  )
}

t.test('the policy of the guide moves chunks that the policy of the server leaves, in all versions', async (t) => {
  const guide = readFileSync(new URL('../../../docs/guides/simulate.md', import.meta.url), 'utf8')
  const [, example] = /```js\n(.*?)```/s.exec(guide)!
  const server = await runVariant(parseScenario(scenario(''), 'server.yaml').variants[0]!)
  t.equal(server.result.migrations.total, 0)
  for (const emulate of ['7.0', '4.4']) {
    const run = await runWith(example!, `emulate: "${emulate}"\n`)
    t.match(run.result.migrations, { total: 2, byReason: { chunksImbalance: 2 } }, emulate)
    t.same(
      Object.values(run.result.shards).map(({ chunks }) => chunks),
      [2, 2, 2],
    )
    t.ok(
      run.decisions.some(({ text }) => /shard0\d has 3 chunks, shard03 0; moved$/.test(text)),
      'the decision contains its reason',
    )
  }
  const again = [await runWith(example!), await runWith(example!)]
  t.equal(again[0]!.result.traceHash, again[1]!.result.traceHash)
})

t.test('a policy gets bounds, sizes and zones, and its reasons are counted', async (t) => {
  writeFileSync(
    join(directory, 'zones.mjs'),
    `export default ({ ns, chunkSizeBytes, shards, chunks }) => {
      const chunk = chunks.findIndex(({ zone, shard }) => zone === 'eu' && shard !== 'shard01')
      const [first, second] = chunks
      const because = JSON.stringify([ns, chunkSizeBytes, shards[1].bytes > 10000, shards[0].zones, first.zone, second.min, second.max, second.zone])
      return chunk < 0 ? [] : [{ chunk, to: 'shard01', reason: 'zoneViolation', because }]
    }`,
  )
  const text = scenario('policy: ./zones.mjs\n')
    .replace('splitAt: [100, 200, 300, 400, 500]', 'splitAt: [100, 200], primary: shard02')
    .replace('shards: 2', 'shards: 2, zones: { eu: [shard01] }')
    .replace(
      '{ at: 1s, do: addShard }',
      '{ at: 0s, do: updateZoneKeyRange, ns: shop.orders, min: { customer: 0 }, max: { customer: 200 }, zone: eu }',
    )
  const { result, decisions } = await runVariant(
    parseScenario(text, join(directory, 'zones.yaml')).variants[0]!,
    () => {},
    {
      allowCode: true,
    },
  )
  t.equal(result.migrations.total, result.migrations.byReason.zoneViolation)
  const [move] = decisions.filter(({ kind }) => kind === 'migration')
  t.match(
    move!.text,
    'zoneViolation: ["shop.orders",16384,true,["eu"],null,"{\\"customer\\":0}","{\\"customer\\":100}","eu"]',
  )
})

const wrong: readonly (readonly [what: string, source: string, message: RegExp])[] = [
  ['a syntax error', 'export default (', /^the policy \/.*\.mjs cannot be loaded: SyntaxError: /],
  [
    'a default export that is not a function',
    'export default 5',
    /^the policy \/.*\.mjs does not export a function: write export default/,
  ],
  [
    'throws an error',
    'export default () => { null.x }',
    /^the policy \/.*\.mjs, called for shop\.orders: it threw TypeError: /,
  ],
  ['a number instead of a list', 'export default () => 5', /: it returned a number, not a list of moves\.$/],
  [
    'throws a value that is not an error',
    'export default () => { throw Object.create(null) }',
    /: it threw an object\.$/,
  ],
  ['a promise', 'export default async () => []', /: it returned a promise, not/],
  ['a promise that fails', 'export default async () => { throw new Error() }', /: it returned a promise, not/],
  [
    'a chunk that is not a number',
    'export default () => [{ chunk: 5n, to: "shard02" }]',
    /: move 0 has chunk a bigint; chunk must be an index/,
  ],
  [
    'sorts in place',
    'export default ({ chunks }) => chunks.sort(() => 1).slice(99)',
    /: it threw TypeError: .*read only/,
  ],
  [
    'changes a shard',
    'export default ({ shards }) => { shards[0].isDraining = true; return [] }',
    /: it threw TypeError: .*read only/,
  ],
  [
    'changes zones',
    'export default ({ shards }) => { shards[0].zones.push("eu"); return [] }',
    /: it threw TypeError: .*not extensible/,
  ],
  [
    'changes a chunk',
    'export default ({ chunks }) => { chunks[0].isJumbo = true; return [] }',
    /: it threw TypeError: .*read only/,
  ],
  ['a number instead of a move', 'export default () => [7]', /: move 0 is a number, not \{ chunk, to \}\.$/],
  [
    'an unknown chunk',
    'export default () => [{ chunk: 99, to: "shard02" }]',
    /: move 0 has chunk 99; chunk must be an index from 0 to 5\.$/,
  ],
  [
    'an unknown shard',
    'export default () => [{ chunk: 0, to: "shard09" }]',
    /: move 0 has to: "shard09"; to must be one of shard01, shard02\.$/,
  ],
  [
    'a move to the owner',
    'export default ({ chunks }) => [{ chunk: 0, to: chunks[0].shard }]',
    /: move 0 goes to shard0\d, which already has the chunk\.$/,
  ],
  [
    'two moves with one shard',
    'export default ({ chunks }) => [0, 1].map((chunk) => ({ chunk, to: chunks[1 - chunk].shard }))',
    /: move 1 uses shard0\d, which another move already uses; a shard gives or takes one chunk per round\.$/,
  ],
  [
    'a misspelt setting',
    'export default () => [{ chunk: 0, to: "shard02", why: "" }]',
    /: move 0 has the unknown field why; /,
  ],
  [
    'an unknown reason',
    'export default ({ chunks }) => [{ chunk: 0, to: chunks[0].shard === "shard01" ? "shard02" : "shard01", reason: "whim" }]',
    /: move 0 has the reason "whim"; it must be one of draining, zoneViolation, chunksImbalance\.$/,
  ],
  [
    'state between calls',
    'let n = 0; export default () => (n++ % 2 ? [] : [{ chunk: 0, to: "shard02" }])',
    /: two calls with the same arguments returned different moves; /,
  ],
]

for (const [what, source, message] of wrong)
  t.test(`an invalid policy is reported: ${what}`, async (t) => {
    await t.rejects(runWith(source), { name: /^(Option|Scenario)Error$/, message })
  })

t.test('a missing policy file is an error with its line', async (t) => {
  t.throws(() => parseScenario(scenario('policy: ./none.mjs\n'), join(directory, 'own.yaml')), {
    name: 'OptionError',
    message: /own\.yaml:\d+: policy: cannot be read: ENOENT, .*none\.mjs$/,
  })
})

t.test('the CSV tables have a row for each shard and tick, each decision and each variant', async (t) => {
  const run = await runVariant(parseScenario(scenario(''), 'server.yaml').variants[0]!)
  const tables = csvFiles([run, { ...run, result: { ...run.result, name: 'the "other", one' } }])
  t.same([...tables.keys()], ['samples.csv', 'decisions.csv', 'results.csv'])
  const lines = (name: string): string[] => tables.get(name)!.split('\r\n')
  const [first, last] = [run.samples[0]!, run.samples.at(-1)!]
  t.equal(lines('samples.csv')[0], 'variant,atMs,shard,bytes,orphans,chunks,operations,draining')
  t.equal(lines('samples.csv')[1], `scenario,0,shard01,${first.shards['shard01']!.bytes},0,3,0,false`)
  t.equal(
    lines('samples.csv').at(-2),
    `"the ""other"", one",30000,shard03,${last.shards['shard03']!.bytes},0,0,0,false`,
  )
  t.equal(lines('decisions.csv')[1], 'scenario,1000,timeline,addShard')
  const [names, values, others] = lines('results.csv').map((line) => line.split(','))
  t.equal(values![names!.indexOf('imbalance.bytes.last.maxToMean')], String(run.result.imbalance.bytes.last.maxToMean))
  t.equal(values![names!.indexOf('shards.shard03.chunks')], '0')
  t.equal(others!.at(-1), '0')
})

t.test('a policy that does not return is terminated', async (t) => {
  const endless = 'export default () => { for (;;); }'
  await t.rejects(runWith(endless, '', { answerMs: 100 }), {
    name: 'ScenarioError',
    message:
      /^the policy .*policy-\d+\.mjs, called for shop\.orders: it did not return within 100 ms; it may contain an endless loop\.$/,
  })
  for (const [top, limits, message] of [
    ['for (;;);', { loadMs: 200 }, /did not complete within 200 ms; it may contain an endless loop\.$/],
    ['await new Promise(() => {})', {}, /awaits a promise that never settles, or exits the process\.$/],
    ['process.exit()', {}, /awaits a promise that never settles, or exits the process\.$/],
  ] as const)
    await t.rejects(runWith(`${top}\nexport default () => []`, '', limits), { name: 'OptionError', message }, top)
})
