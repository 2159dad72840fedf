/** Mode `metadata`: shards store sizes of ranges, and balancing agrees with that of documents. */
import { decode, encode, findField, type Document } from '@shardlab/bson'
import { createSimulatedCluster } from '@shardlab/cluster'
import {
  findScenario,
  parseScenario,
  runVariant,
  scenarioPage,
  textReport,
  type Scenario,
  type VariantRun,
} from '@shardlab/scenario'
import { partsOf } from '@shardlab/report/testing'
import t from 'tap'

const none = Number.NEGATIVE_INFINITY

/** Largest difference in migrations: as a share, or as a number when there are few. */
const migrationsTolerance = { share: 0.1, count: 2 }

function inMode(scenario: Scenario, mode: 'documents' | 'metadata'): Promise<VariantRun> {
  return runVariant({ ...scenario, collections: scenario.collections.map((collection) => ({ ...collection, mode })) })
}

/** With the unit that the version balances. The last two run only in long runs. */
const compared = [
  ['add-two-shards', 'chunk count', 'chunks'],
  ['drain-a-shard', 'scenario', 'bytes'],
  ['low-cardinality-key', 'refined by a field with many values', 'bytes'],
  ['add-two-shards', 'data size', 'bytes'],
  ['hot-monotonic-key', 'ranged', 'bytes'],
] as const

for (const [name, variant, balanced] of compared.slice(0, process.env['SHARDLAB_LONG'] === '1' ? undefined : 3))
  t.test(`${name}, ${variant}: both modes agree`, async (t) => {
    const { path, text } = findScenario(name)
    const scenario = parseScenario(text, path).variants.find((each) => each.name === variant)!
    const { result: documents } = await inMode(scenario, 'documents')
    const { result: metadata } = await inMode(scenario, 'metadata')
    t.same([documents.mode, metadata.mode], ['documents', 'metadata'])
    t.same(metadata.failedExpectations, [])
    const [expected, found] = [documents.migrations.total, metadata.migrations.total]
    const tolerance = Math.max(migrationsTolerance.count, expected * migrationsTolerance.share)
    t.ok(Math.abs(found - expected) <= tolerance, `${found} migrations where documents make ${expected}`)
    t.same(Object.keys(metadata.shards), Object.keys(documents.shards))
    const chunk = balanced === 'bytes' ? scenario.cluster.chunkSize! : 1
    for (const [shard, { [balanced]: value }] of Object.entries(documents.shards)) {
      const other = metadata.shards[shard]![balanced]
      t.ok(Math.abs(other - value) <= chunk, `${shard}: ${other} ${balanced} where documents make ${value}`)
    }
    t.equal(metadata.jumboChunks, documents.jumboChunks)
  })

const eventful = `version: 1
seed: 5
emulate: "6.0.2"
cluster: { shards: 3, mongos: 2, chunkSize: 128MB, zones: { eu: [shard02] }, orphanCleanupDelay: 5m }
collections:
  - { ns: shop.orders, key: { customer: 1 }, mode: metadata }
  - { ns: shop.carts, key: { customer: hashed }, mode: metadata }
data:
  - { ns: shop.orders, size: 8GB, documentSize: 1KB, keys: { distribution: zipfian, cardinality: 1e6 } }
workload:
  - ns: shop.orders
    rate: 1000/s
    mix: { insert: 0.3, findByKey: 0.3, findRange: 0.2, findOther: 0.1, updateByKey: 0.1 }
    keys: { distribution: uniform, cardinality: 1e6 }
  - { ns: shop.carts, rate: 100/s, from: 10m, to: 50m, mix: { insert: 1 }, keys: { distribution: hotspot, cardinality: 500 } }
timeline:
  - { at: 5m, do: addShard }
  - { at: 10m, do: updateZoneKeyRange, ns: shop.orders, min: { customer: 0 }, max: { customer: 100000 }, zone: eu }
  - { at: 20m, do: crash shard02 for 10m }
  - { at: 40m, do: crash config for 1m }
  - { at: 45m, do: removeShard, shard: shard03 }
  - { at: 50m, do: workload, ns: shop.orders, rate: 0/s }
  - { at: 55m, do: command, db: shop, command: { find: orders } }
  - { at: 56m, do: command, command: { moveChunk: shop.orders, find: { customer: 5 }, to: shard01 } }
duration: 2h
tick: 1m
expect:
  - operations.errors.133 > 150000
  - operations.errors.133 < 400000
  - migrations.byReason.zoneViolation > 3
  - migrations.byReason.draining > 5
  - jumboChunks > 0
`

t.test('no document is lost with zones, faults, draining and a changing load', async (t) => {
  const file = parseScenario(eventful, 'eventful.yaml')
  const run = await runVariant(file.variants[0]!)
  const { result, samples } = run
  t.notMatch(textReport(file, [run]), /NaN|undefined|null/, 'reports have no gaps where latencies are missing')
  t.match(partsOf(scenarioPage(file, [run]), 'instants'), [{ owners: [{ ns: 'shop.orders' }] }])
  t.same(result.failedExpectations, [])
  t.match(
    result.failedSteps.map(({ step, error }) => [step.split(' ', 2).join(' '), error]),
    [
      [
        'command {"find":"orders"}',
        /^shop\.orders is measured: it has sizes of ranges instead of documents, so find is not supported \(code 115\)/,
      ],
      ['command {"moveChunk":"shop.orders","find":{"customer":5},"to":"shard01"}', /zone/],
    ].slice(0, result.failedSteps.length),
  )
  t.equal(result.failedSteps[0]!.atMs, 55 * 60_000)
  const bytes = Object.values(result.shards).reduce((sum, shard) => sum + shard.bytes, 0)
  const first = Object.values(samples[0]!.shards).reduce((sum, shard) => sum + shard.bytes, 0)
  const inserts = 1000 * 0.3 * 3000 + 100 * 2400
  const documentBytes = first / (8 * 1024 ** 2)
  t.ok(documentBytes > 900 && documentBytes < 1100)
  // During a tenth of the time a third of the inserts fails. Orphans count with their average size.
  const written = (bytes - first) / documentBytes
  t.ok(written < inserts * 1.001 && written > inserts * 0.9, `${written} documents of ${inserts} inserts`)
  t.equal(result.operations.total, 1000 * 3000 + 100 * 2400)
  t.equal(result.operations.latencyMs, null)
  t.match(result.shards['shard03'], { removed: true, bytes: 0, chunks: 0 }, 'it is removed')
})

t.test('the duration of a migration follows from its bytes and the bandwidth', async (t) => {
  const text = (bandwidth: string) => `version: 1
cluster: { shards: 2, chunkSize: 128MB, migrationBandwidth: ${bandwidth} }
collections: [{ ns: a.b, key: { k: 1 }, mode: metadata }]
data: [{ ns: a.b, size: 2GB, keys: { distribution: uniform } }]
workload: [{ ns: a.b, rate: 10/s, mix: { insert: 0.5, findByKey: 0.5 }, keys: { distribution: latest } }]
duration: 1h
`
  const hashes: string[] = []
  const converged = async (bandwidth: string) => {
    const { result, decisions } = await runVariant(parseScenario(text(bandwidth), 'a.yaml').variants[0]!)
    t.ok(result.migrations.total > 4)
    const inUnits =
      /chunksImbalance: shard01 has [\d.]+ GB, shard02 [\d.]+ \wB?: [\d.]+ \wB more, at least 3 chunks of 128 MB; moved$/
    t.match(decisions.find(({ kind }) => kind === 'migration')?.text, inUnits, 'the reason has readable sizes')
    hashes.push(result.traceHash)
    return result.convergedAtMs! / result.migrations.total
  }
  const [slow, quick] = [await converged('1MB/s'), await converged('1GB/s')]
  t.ok(slow > 100_000 && slow < 140_000, `${slow} ms for each migration of 128 MB at 1 MB/s`)
  t.ok(quick < 10_000, `${quick} ms at 1 GB/s`)
  await converged('1GB/s')
  t.equal(hashes[2], hashes[1], 'equal files and seeds give equal results')
  t.not(hashes[1], hashes[0])
})

for (const emulate of ['4.0', '8.0'] as const)
  t.test(`statistics report the sizes of the ranges, ${emulate}`, async (t) => {
    const measured = { namespaces: ['shop.orders'], cloneBytesPerSecond: 1e9 }
    const cluster = await createSimulatedCluster({ seed: 1, shards: 2, emulate, measured })
    t.teardown(() => cluster.stop())
    const ask = async (command: Document): Promise<Document> =>
      decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'shop' }), { to: 'mongos01' }), {
        promoteLongs: true,
      })
    const admin = { $db: 'admin' }
    for (const command of [
      { enableSharding: 'shop', primaryShard: 'shard01', ...admin },
      { shardCollection: 'shop.orders', key: { k: 1 }, ...admin },
      { split: 'shop.orders', middle: { k: 100 }, ...admin },
      { moveChunk: 'shop.orders', find: { k: 100 }, to: 'shard02', ...admin },
    ])
      t.match(await ask(command), { ok: 1 })
    t.match(await ask({ collStats: 'orders' }), { ok: 1, count: 0, size: 0 }, 'no data')
    const { collection } = await cluster.request(
      'config',
      'config.get-collection',
      { ns: 'shop.orders', since: null },
      1000,
    )
    const uuid = findField(collection!, 'uuid')!.asBinary()
    // Keys 0 to 200, with 1000 documents of 64 bytes for each hundred keys.
    for (const shard of ['shard01', 'shard02']) {
      const ranges = new Uint8Array(Float64Array.of(0, none, none, 200, none, none, 2000, 128_000).buffer)
      t.match(await cluster.request(shard, 'shard.measure', { ns: 'shop.orders', uuid, ranges }, 1000), {
        documents: 1000,
        bytes: 64_000,
      })
    }
    t.match(await ask({ collStats: 'orders' }), {
      ...{ ok: 1, sharded: true, count: 2000, size: 128_000, avgObjSize: 64, storageSize: 128_000 },
      shards: { shard01: { count: 1000, size: 64_000 }, shard02: { count: 1000 } },
    })
    t.match(await ask({ collStats: 'orders', scale: 1000 }), { size: 128, avgObjSize: 64 })
    const perShard = await ask({
      aggregate: 'orders',
      pipeline: [{ $collStats: { storageStats: {}, count: {} } }],
      cursor: {},
    })
    t.match(
      (perShard['cursor'].firstBatch as Document[]).map(({ count, storageStats }) => [
        count as number,
        storageStats.size as number,
      ]),
      [
        [1000, 64_000],
        [1000, 64_000],
      ],
    )
    t.match(await ask({ dbStats: 1 }), { objects: 2000, dataSize: 128_000 })
    t.match(
      (await ask({ listDatabases: 1, ...admin }))['databases'].find(({ name }: Document) => name === 'shop'),
      { sizeOnDisk: 128_000 },
    )
    t.match(await ask({ dataSize: 'shop.orders' }), { size: 128_000, numObjects: 2000 })
    const bounded = { dataSize: 'shop.orders', keyPattern: { k: 1 }, min: { k: 50 }, max: { k: 150 } }
    t.match(await ask(bounded), { size: 64_000, numObjects: 1000 })
    t.match(await ask({ ...bounded, maxObjects: 9 }), { size: 1280, numObjects: 20 }, 'ten documents of each shard')
    const other = { keyPattern: { _id: 1 }, min: { _id: 0 }, max: { _id: 1 } }
    t.match(await ask({ dataSize: 'shop.orders', ...other }), {
      ok: 0,
      code: 115,
      errmsg: /only ranges of its shard key have sizes/,
    })
    const collStats = { $collStats: { count: {} } }
    // $lookup reads sharded collections since 5.1.
    const join = { $lookup: { from: 'orders', pipeline: [], as: 'all' } }
    for (const pipeline of [[{ $match: {} }], ...(emulate === '8.0' ? [[collStats, join]] : [])])
      t.match(await ask({ aggregate: 'orders', pipeline, cursor: {} }), { ok: 0, code: 115 })
    for (const command of [{ find: 'orders' }, { count: 'orders' }, { validate: 'orders' }])
      t.match(await ask(command), { ok: 0, code: 115 })
  })

t.test('a last interval that is shorter than the others counts too', async (t) => {
  for (const tick of ['tick: 7s', '']) {
    const text = `version: 1
cluster: { shards: 1 }
collections: [{ ns: a.b, key: { k: 1 }, mode: metadata }]
data: [{ ns: a.b, size: 1MB, keys: { distribution: uniform } }]
workload: [{ ns: a.b, rate: 100/s, mix: { findByKey: 1 }, keys: { distribution: uniform } }]
duration: 1001s
${tick}
`
    const { result } = await runVariant(parseScenario(text, 'rest.yaml').variants[0]!)
    t.equal(result.operations.total, 100 * 1001)
  }
})

t.test('hashed chunks are split also where their bounds have more digits than a position', async (t) => {
  const { samples } = await runVariant(
    parseScenario(
      `version: 1
emulate: "6.0.2"
cluster: { shards: 3, chunkSize: 128MB }
collections: [{ ns: a.b, key: { k: hashed }, mode: metadata }]
data: [{ ns: a.b, size: 8GB, keys: { distribution: uniform } }]
duration: 1s
`,
      'hashes.yaml',
    ).variants[0]!,
  )
  const counts = Object.values(samples[0]!.shards).map(({ chunks }) => chunks)
  t.ok(Math.min(...counts) * 128 >= 8192 / 3, `${counts.join(', ')} chunks of at most 128 MB`)
  t.ok(Math.max(...counts) < 1.5 * Math.min(...counts), 'the chunks are balanced')
})
