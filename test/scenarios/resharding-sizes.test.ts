/** Resharding in mode `metadata`, compared with a calculation from the scenario file. */
import { parseScenario, runVariant, textReport, type VariantRun } from '@shardlab/scenario'
import t from 'tap'

const MB = 1024 ** 2
const GB = 1024 ** 3

const text = (settings: {
  readonly key?: string
  readonly more?: string
  readonly workload?: string
}): string => `version: 1
seed: 3
cluster: { shards: 4, chunkSize: 128MB, migrationBandwidth: 100MB/s }
collections:
  - ns: shop.orders
    mode: metadata
    key: { tenant: 1 }
    indexEntrySize: 20B
    fields:
      tenant: { distribution: hotspot, cardinality: 50, hotKeys: 1, shareOfOperations: 0.3 }
      order: { distribution: monotonic }
      customer: { distribution: uniform, cardinality: 1e6 }
    indexes: [{ customer: 1 }]
data: [{ ns: shop.orders, size: 400GB, documentSize: 2KB }]
workload: [${settings.workload ?? ''}]
timeline:
  - { at: 1h, do: stopBalancer }
  - { at: 1h 10m, do: reshard, ns: shop.orders, key: ${settings.key ?? '{ customer: hashed }'}, numInitialChunks: 200 }
${settings.more ?? ''}
duration: 3h
tick: 1h
`

const play = (source: string): Promise<VariantRun> => runVariant(parseScenario(source, 'resharding.yaml').variants[0]!)
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const isLong = process.env['SHARDLAB_LONG'] === '1'
const keys = ['{ customer: hashed }', '{ tenant: 1, order: 1 }', '{ order: 1 }']

for (const key of isLong ? keys : keys.slice(0, 1))
  t.test(`a resharding to ${key} copies everything once, in the time that the bandwidth gives it`, async (t) => {
    const run = await play(text({ key }))
    const { result } = run
    t.same(result.failedSteps, [])
    t.equal(result.reshardings.length, 1)
    const { bytes, receivedBytes, cloneMs, blockedMs, beganMs, endedMs, isAborted } = result.reshardings[0]!
    const before = sum(Object.values(run.samples[0]!.shards).map((shard) => shard.bytes))
    t.equal(bytes, before, 'every byte was copied')
    t.equal(sum(Object.values(receivedBytes)), before)
    t.equal(sum(Object.values(result.shards).map((shard) => shard.bytes)), before, 'every byte is there at the end')
    t.equal(sum(Object.values(result.shards).map((shard) => shard.orphans)), 0)
    const most = Math.max(...Object.values(receivedBytes))
    t.ok(Math.abs(cloneMs! - (most * 1000) / (100 * MB)) < 2000, 'the busiest recipient determines the time')
    t.equal(isAborted, false)
    t.ok(endedMs! - beganMs >= Math.max(cloneMs!, 300_000))
    t.ok(blockedMs > 0 && blockedMs < 2000)
    // Indexes of _id, shard key and customer, then also of the new key.
    const documents = Math.round((400 * GB) / 2048)
    const indexBytes = 20 * documents
    const { shard01 } = result.shards
    const onFirst = receivedBytes['shard01']! / before
    t.ok(
      Math.abs(shard01!.peak.diskBytes - (before + 3 * indexBytes + onFirst * (before + 80 * documents))) <
        before * 1e-6,
      'the donor has its old documents and its new ones, with indexes',
    )
    for (const shard of ['shard02', 'shard03', 'shard04'])
      t.ok(
        Math.abs(result.shards[shard]!.peak.diskBytes - (receivedBytes[shard]! / before) * (before + 80 * documents)) <
          before * 1e-6,
        `${shard} has what it received`,
      )
    t.same(result.reshardingNeeds['shop.orders'], {
      bytes: before,
      indexBytes: 80 * documents,
      shards: 4,
      freeBytesPerShard: Math.ceil((2 * (before + 80 * documents)) / 4),
      leastMs: Math.ceil((before * 1000) / 4 / (100 * MB)),
    })
  })

t.test('growth and expiry during a resharding reach their new owners, and continue under the new key', async (t) => {
  const still = await play(text({}))
  const workload = '{ ns: shop.orders, growth: 240GB/d }, { ns: shop.orders, expiry: 24GB/d }'
  const run = await play(text({ key: '{ tenant: 1, order: 1 }', workload }))
  t.same(run.result.failedSteps, [])
  const total = (each: VariantRun): number => sum(Object.values(each.result.shards).map((shard) => shard.bytes))
  const documentBytes = total(still) / ((400 * GB) / 2048)
  const expected = ((400 + 30 - 3) * GB * documentBytes) / 2048
  t.ok(Math.abs(total(run) - expected) < expected * 0.002, `${total(run)} of ${expected} bytes`)
  t.ok(run.result.reshardings[0]!.bytes > total(still), 'what grew in between was collected, too')
})

t.test('a shard that crashes during a resharding receives everything in another attempt', async (t) => {
  const run = await play(text({ more: '  - { at: 1h 12m, do: crash shard03 for 10s }' }))
  t.same(run.result.failedSteps, [])
  const { bytes, endedMs, isAborted } = run.result.reshardings[0]!
  t.ok(endedMs !== null && !isAborted)
  const before = sum(Object.values(run.samples[0]!.shards).map((shard) => shard.bytes))
  t.equal(sum(Object.values(run.result.shards).map((shard) => shard.bytes)), before)
  t.ok(bytes >= before)
})

t.test('equal files and seeds give equal runs, and the report has the lines for planning', async (t) => {
  const file = parseScenario(text({}), 'resharding.yaml')
  const [first, second] = [await runVariant(file.variants[0]!), await runVariant(file.variants[0]!)]
  t.equal(first.result.traceHash, second.result.traceHash)
  t.same(first.result, second.result)
  const report = textReport(file, [first])
  t.match(report, /resharding of shop\.orders +to \{"customer":"hashed"\}: \d+ GB in 18m/)
  t.match(report, /to reshard shop\.orders at the end: free disk of each shard \/ least time +\d+ GB \/ 17m/)
})

t.test('moveCollection stays refused for a measured collection', async (t) => {
  const moved = text({ more: '  - { at: 2h, do: command, command: { unshardCollection: shop.orders }, fails: 115 }' })
  const { result } = await play(moved.replace('seed: 3', 'seed: 3\nemulate: "8.0"'))
  t.same(result.failedSteps, [])
})
