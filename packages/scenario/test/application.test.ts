import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  parseScenario,
  runVariant,
  scenarioPage,
  textReport,
  type ScenarioFile,
  type VariantRun,
} from '@shardlab/scenario'
import { rowsOf } from '@shardlab/report/testing'

const application = (mode: 'documents' | 'metadata', emulate = '7.0'): string => `version: 1
seed: 3
emulate: "${emulate}"
cluster: { shards: 4, chunkSize: 1MB }
collections:
  - ns: shop.orders
    key: { tenant: 1 }
    mode: ${mode}
    fields:
      tenant: { distribution: hotspot, cardinality: 100, hotKeys: 1, shareOfOperations: 0.3 }
      order: { distribution: monotonic }
      customer: { distribution: uniform, cardinality: 1000 }
data:
  - { ns: shop.orders, size: 300KB, documentSize: 512B }
workload:
  - ns: shop.orders
    rate: 10/s
    operations:
      - { name: new order, do: insert, share: 0.2 }
      - { name: one order, do: find, where: { tenant: equal, order: equal }, share: 0.2 }
      - { name: by order, do: find, where: { order: equal }, share: 0.1 }
      - { name: next orders, do: find, where: { tenant: equal, order: { range: 50 } }, share: 0.1 }
      - { name: of customers, do: find, where: { customer: { in: 3 } }, share: 0.1 }
      - { name: ship, do: updateOne, where: { order: equal }, share: 0.1 }
      - { name: close, do: updateMany, where: { tenant: equal }, share: 0.1 }
      - { name: remove, do: deleteOne, where: { tenant: equal }, share: 0.1 }
duration: 20s
variants:
  - { name: by tenant, collections: [{ ns: shop.orders, splitAt: [25, 50, 75] }] }
  - { name: hashed orders, collections: [{ ns: shop.orders, key: { order: hashed } }] }
  - { name: by tenant and order, collections: [{ ns: shop.orders, key: { tenant: 1, order: 1 }, splitAt: [25, 50, 75] }] }
`

const parsed = (text: string): ScenarioFile => parseScenario(text, 'shop.yaml')

for (const mode of ['documents', 'metadata'] as const)
  t.test(`each operation of an application shows what it becomes under each key, mode ${mode}`, async (t) => {
    const file = parsed(application(mode))
    t.same(file.warnings, [])
    const runs: VariantRun[] = []
    for (const variant of file.variants) runs.push(await runVariant(variant))
    const shapes = (i: number) =>
      Object.fromEntries(
        runs[i]!.result.shapes.map(({ name, kinds, shards, because }) => [name, { kinds, shards, because }]),
      )
    const all = (kind: string) => ({ kinds: { targeted: 0, multi: 0, broadcast: 0, refused: 0, [kind]: 1 } })
    t.match(shapes(0), {
      'new order': { ...all('targeted'), because: 'the document has the shard key' },
      'one order': { ...all('targeted'), because: 'the filter has the whole key' },
      'by order': { ...all('broadcast'), shards: 4, because: 'the filter lacks tenant, the first field of the key' },
      'of customers': { ...all('broadcast'), shards: 4 },
      ship: { ...all('refused'), shards: 0, because: /^A \{multi:false\} update .* \(code 72\)$/ },
      close: { ...all('targeted'), shards: 1 },
      remove: all('targeted'),
    })
    t.match(shapes(1), {
      'new order': all('targeted'),
      'one order': { ...all('targeted'), because: 'the filter has the whole key' },
      'by order': all('targeted'),
      'next orders': { ...all('broadcast'), because: 'order is hashed, so a range of its values is on all shards' },
      ship: { ...all('targeted'), because: 'the filter has the whole key' },
      close: { ...all('broadcast'), shards: 4 },
      remove: { ...all('refused'), because: /\(code 61\)$/ },
    })
    t.match(shapes(2), {
      'one order': { ...all('targeted'), because: 'the filter has the whole key' },
      'next orders': { because: /^the filter has tenant and order, and one shard owns these keys$/ },
      close: { because: /^the filter has tenant, not order/ },
    })
    const errors = runs.map(({ result }) => Object.keys(result.operations.errors))
    t.same(errors, [['72'], ['61'], ['72']], 'the router refuses the same operations when they are run')
    t.match(textReport(file, runs), /ship: updateOne \{ order \}\n    by tenant: A \{multi:false\} update/)
    const rows = rowsOf(scenarioPage(file, runs), 'Operations at the end')
    t.match(
      rows.find(([name]) => name!.startsWith('ship: ')),
      [/updateOne \{ order \}/, /^refused: A \{multi:false\}/],
    )
  })

t.test('since 8.0 a write of one document without the key is a search', async (t) => {
  const { result } = await runVariant(parsed(application('metadata', '8.0')).variants[0]!)
  const ship = result.shapes.find(({ name }) => name === 'ship')!
  t.match(ship, { kinds: { broadcast: 1 }, because: /; the router searches for one match, then writes it$/ })
  t.same(result.operations.errors, {})
})

t.test('a tenant of 30% has 30% of the documents', async (t) => {
  for (const mode of ['documents', 'metadata'] as const) {
    const text = application(mode).replace('size: 300KB', 'size: 2MB').replace('rate: 10/s', 'rate: 0/s')
    const [variant] = parsed(text.replace('[25, 50, 75]', '[1]')).variants
    const { samples } = await runVariant(variant!)
    // The tenant 0 alone is on the first shard.
    const { shards } = samples[0]!
    const all = Object.values(shards).reduce((sum, { bytes }) => sum + bytes, 0)
    const share = shards['shard01']!.bytes / all
    t.ok(Math.abs(share - 0.3) < 0.03, `${mode}: ${share}`)
  }
})

t.test('growth, expiry and deletes change the size by their rates, with a key of three fields', async (t) => {
  const text = (workload: string): string => `version: 1
cluster: { shards: 3, chunkSize: 64MB }
collections:
  - ns: shop.orders
    mode: metadata
    key: { region: 1, tenant: 1, order: 1 }
    fields:
      region: { distribution: uniform, cardinality: 4 }
      tenant: { distribution: zipfian, cardinality: 10 }
      order: { distribution: monotonic }
data: [{ ns: shop.orders, size: 4GB, documentSize: 2KB }]
workload:
${workload}
duration: 2m
tick: 1m
`
  const gigabyte = 1024 ** 3
  const sizesOf = async (workload: string) => {
    const { result, samples } = await runVariant(parsed(text(workload)).variants[0]!)
    t.same([result.failedSteps, result.operations.errors], [[], {}])
    const bytesAt = (i: number) => Object.values(samples.at(i)!.shards).reduce((sum, { bytes }) => sum + bytes, 0)
    return [bytesAt(0) / gigabyte, bytesAt(-1) / gigabyte] as const
  }
  const around = (found: number, expected: number, what: string): boolean =>
    t.ok(Math.abs(found - expected) < expected * 0.002, `${what}: ${found} GB where ${expected} are expected`)
  const [start, grown] = await sizesOf(
    '  - { ns: shop.orders, growth: 600MB/m }\n  - { ns: shop.orders, expiry: 200MB/m }',
  )
  around(start, 4, 'start')
  around(grown, 4 + 800 / 1024, 'growth and expiry')
  const remove = '{ name: remove, do: deleteOne, where: { region: equal, tenant: equal, order: equal }, share: 1 }'
  const [, left] = await sizesOf(`  - { ns: shop.orders, rate: 1000/s, operations: [${remove}] }`)
  around(left, 4 - (120_000 * 2048) / gigabyte, 'deletes')
})

t.test('an application that contradicts itself is reported with its line', async (t) => {
  const base = application('metadata')
  const rules: readonly (readonly [find: string, replace: string, message: RegExp])[] = [
    ['hotKeys: 1,', 'hotKeys: 0.3,', /shop.yaml:10: .*hotKeys: must be a whole number/],
    ['hotKeys: 1,', 'hotKeys: 1, shareOfKeys: 0.1,', /shareOfKeys: excludes hotKeys/],
    ['hotKeys: 1,', 'hotKeys: 101,', /hotKeys: must be at most the cardinality, 100/],
    [
      'key: { order: hashed }',
      'key: { orders: hashed }',
      /:30: .*orders is not one of tenant, order, customer \(variant "hashed orders"\)/,
    ],
    [
      'where: { order: equal }',
      'where: { oder: equal }',
      /where.oder: is not a field of shop.orders; the fields are tenant, order, customer/,
    ],
    ['rate: 10/s', 'rate: 10/s\n    mix: { insert: 1 }', /operations: excludes mix/],
    ['    rate: 10/s\n', '', /workload.0.rate: is missing/],
    [
      'documentSize: 512B',
      'documentSize: 512B, keys: { distribution: monotonic }',
      /keys: must not be set: shop.orders has fields/,
    ],
    ['do: deleteOne', 'do: deleteMany', /must not be deleteMany in mode metadata: use expiry/],
    ['share: 0.2 }', 'share: 0.3 }', /must have shares that add up to 1/],
    ['do: updateMany', 'do: upsert', /do: must be one of insert, find/],
    [
      'do: deleteOne, where: { tenant: equal }',
      'do: transaction, statements: [{ do: find, where: { tenant: equal } }]',
      /must not be transaction in mode metadata/,
    ],
    ['do: deleteOne, where: { tenant: equal }', 'do: transaction', /operations.7.statements: is missing/],
    [
      'do: deleteOne, where: { tenant: equal }',
      'do: transaction, statements: [{ do: find, where: { tenan: equal } }]',
      /statements.0.where.tenan: is not a field of shop.orders/,
    ],
    ['do: deleteOne, where', 'do: deleteOne, same: [tenant], where', /same: is allowed only for a transaction/],
    ['{ in: 3 }', '{ inn: 3 }', /customer: must be equal, \{ range: 100 \} or \{ in: 3 \}/],
  ]
  for (const [find, replace, message] of rules) {
    const text = base.replace(find, replace)
    t.not(text, base, find)
    t.throws(() => parsed(text), { name: 'OptionError', message }, replace)
  }
})

t.test('transactions commit by the path of their shards, and are run again after conflicts', async (t) => {
  const file = parsed(`version: 1
seed: 5
cluster: { shards: 3, mongos: 2 }
collections:
  - ns: bank.accounts
    key: { branch: 1 }
    splitAt: [10, 20]
    fields:
      branch: { distribution: uniform, cardinality: 30 }
      holder: { distribution: uniform, cardinality: 500 }
data:
  - { ns: bank.accounts, size: 100KB, documentSize: 200B }
workload:
  - ns: bank.accounts
    rate: 30/s
    operations:
      - name: within a branch
        do: transaction
        same: [branch]
        statements: [{ do: find, where: { branch: equal } }, { do: updateMany, where: { branch: equal, holder: equal } }]
        share: 0.5
      - name: between branches
        do: transaction
        statements: [{ do: updateMany, where: { branch: equal } }, { do: updateMany, where: { branch: equal } }]
        share: 0.45
      - name: everywhere
        do: transaction
        statements: [{ do: find, where: { branch: { in: 1 } } }, { do: find, where: { holder: equal } }]
        share: 0.05
timeline: [{ at: 2s, do: crash shard02 for 1s }]
duration: 5s
expect: [transactions.failed == 0, transactions.participants > 1.2]
`)
  const run = await runVariant(file.variants[0]!)
  const { transactions, operations, shapes, failedExpectations } = run.result
  t.same(failedExpectations, [])
  const { committed, aborts, commitPaths, participants } = transactions!
  t.ok(committed > 100 && committed <= operations.total, `${committed} of ${operations.total}`)
  t.ok(aborts['112']! > 0, JSON.stringify(aborts))
  t.ok(commitPaths['singleShard']! > 50 && commitPaths['twoPhaseCommit']! > 25, JSON.stringify(commitPaths))
  t.ok(participants < 2, `${participants}`)
  t.match(shapes, [
    { name: 'within a branch', operation: 'transaction: find { branch }, updateMany { branch, holder }', shards: 1 },
    { name: 'between branches', kinds: { targeted: Number, multi: Number, broadcast: 0 } },
    {
      name: 'everywhere',
      kinds: { broadcast: 1 },
      shards: 3,
      because:
        'the filter has branch, and one shard owns these keys; the filter lacks branch, the first field of the key',
    },
  ])
  t.ok(shapes[1]!.shards > 1.4 && shapes[1]!.shards < 1.9, `${shapes[1]!.shards}`)
  t.match(textReport(file, [run]), /transactions: committed \/ failed +\d+ \/ 0\n +aborted runs +.*code 112: \d+/)
  t.match(textReport(file, [run]), /commit paths +.*twoPhaseCommit \d+/)
})

t.test('a setting without effect is a warning with its line', async (t) => {
  const base = application('documents')
  const warning = (find: string, replace: string): readonly string[] => parsed(base.replace(find, replace)).warnings
  t.match(warning('hotKeys: 1,', 'shareOfKeys: 1,'), [
    /^shop.yaml:10: collections.0.fields.tenant.shareOfOperations: has no effect: all 100 keys are hot/,
  ])
  t.match(warning('chunkSize: 1MB', 'chunkSize: 1MB, migrationBandwidth: 1MB/s'), [
    /migrationBandwidth: has no effect in mode documents/,
  ])
  t.match(warning('chunkSize: 1MB', 'chunkSize: 1MB, zones: { eu: [shard01] }'), [/zones.eu: has no effect/])
  const hashed = 'key: { order: hashed }, numInitialChunks: 12'
  t.same(warning('key: { order: hashed }', hashed), [])
  t.match(parsed(application('documents', '8.0').replace('key: { order: hashed }', hashed)).warnings, [
    /:30: variants.1.collections.0.numInitialChunks: has no effect: 8.0 ignores it, and every shard gets one chunk$/,
  ])
  t.match(warning('rate: 10/s', 'rate: 10/s\n    rangeKeys: 5'), [
    /:18: workload.0.rangeKeys: has no effect: the workload has no findRange/,
  ])
  const byMix = `version: 1
collections: [{ ns: a.b, key: { customer: 1 } }]
data: [{ ns: a.b, size: 1MB, documentSize: 2KB, keys: { distribution: uniform } }]
workload: [{ ns: a.b, rate: 1/s, mix: { findByKey: 0.5, insert: 0.5 }, keys: { distribution: uniform } }]
duration: 10s
variants:
  - { name: ranged }
  - { name: by _id, collections: [{ ns: a.b, key: { _id: hashed } }] }
`
  const file = parsed(byMix)
  t.match(file.warnings, [
    /:4: workload.0.mix: queries by the first field of the key, which is customer in "ranged" and _id in "by _id"; /,
  ])
  t.equal(file.variants[0]!.workload[0]!.documentSize, 2048, 'inserted documents are as large as loaded ones')
})

t.test('a zone that ends below the top of the key space is a warning', async (t) => {
  const text = (max: string): string => `version: 1
emulate: "7.0"
cluster: { shards: 1, zones: { all: [shard01] } }
collections: [{ ns: a.b, key: { tenant: 1, order: 1 }, mode: metadata }]
timeline:
  - { at: 1s, do: updateZoneKeyRange, ns: a.b, min: { tenant: { $minKey: 1 } }, max: ${max}, zone: all }
duration: 3h
tick: 1h
`
  const [below, top] = [
    parsed(text('{ tenant: { $maxKey: 1 } }')),
    parsed(text('{ tenant: { $maxKey: 1 }, order: { $maxKey: 1 } }')),
  ]
  t.match(below.warnings, [
    /^shop.yaml:6: timeline.0.max: ends the zone at the lowest order of MaxKey, .*: write \{ tenant: \{ \$maxKey: 1 \}, order: \{ \$maxKey: 1 \} \}$/,
  ])
  t.same(top.warnings, [])
  const changes = async (file: ScenarioFile) => {
    const { result } = await runVariant(file.variants[0]!)
    return result.splits + result.merges
  }
  t.ok((await changes(below)) >= 4, 'the chunk above is merged every hour and split again')
  t.equal(await changes(top), 0)
})

t.test('files of values are found next to the scenario, and a missing one is reported with its line', async (t) => {
  const folder = t.testdir({ 'keys.txt': '1\n2\n' })
  const text = `version: 1
collections: [{ ns: a.b, key: { k: 1 } }]
data:
  - { ns: a.b, size: 1KB, documentSize: 128B, keys: { distribution: file, path: keys.txt } }
duration: 1s
`
  const { variants } = parseScenario(text, join(folder, 'a.yaml'))
  t.match(variants[0]!.data[0]!.keys, { path: join(folder, 'keys.txt') })
  t.throws(() => parseScenario(text.replace('keys.txt', 'none.txt'), join(folder, 'a.yaml')), {
    message: /a\.yaml:4: data\.0\.keys\.path: cannot be read: ENOENT, .*none\.txt$/,
  })
  writeFileSync(join(folder, 'policy.mjs'), 'export default () => []')
  t.ok(parseScenario(`${text}policy: policy.mjs\n`, join(folder, 'a.yaml')).variants[0]!.policy?.endsWith('policy.mjs'))
  t.throws(() => parseScenario(`${text}policy: none.mjs\n`, join(folder, 'a.yaml')), {
    message: /a\.yaml:6: policy: cannot be read: ENOENT/,
  })
})
