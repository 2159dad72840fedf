/** Peaks, balancing periods and shares, calculated without the code of the reports. */
import { parseScenario, runVariant, textReport, type VariantRun } from '@shardlab/scenario'
import t from 'tap'

const runs = new Map<string, Promise<VariantRun>>()

/** Several tests look at the same run. */
function played(text: string, tick: string): Promise<VariantRun> {
  const scenario = text.replace('duration:', `tick: ${tick}\nduration:`)
  const run = runs.get(scenario) ?? runVariant(parseScenario(scenario, 'peaks.yaml').variants[0]!)
  runs.set(scenario, run)
  return run
}

const documents = `version: 1
seed: 5
cluster: { shards: 2, chunkSize: 64KB, orphanCleanupDelay: 90s }
collections: [{ ns: a.b, key: { k: 1 } }]
data: [{ ns: a.b, size: 1MB, documentSize: 1KB, keys: { distribution: uniform, cardinality: 100000 } }]
workload: [{ ns: a.b, rate: 2/s, mix: { insert: 0.5, findByKey: 0.5 }, keys: { distribution: uniform, cardinality: 100000 } }]
timeline:
  - { at: 3m, do: addShard }
  - { at: 6m, do: removeShard, shard: shard02 }
duration: 20m
`
const metadata = documents
  .replace('key: { k: 1 } }', 'key: { k: 1 }, mode: metadata }')
  .replace('chunkSize: 64KB', 'chunkSize: 1MB, migrationBandwidth: 200KB/s')
  .replace('size: 1MB', 'size: 100MB')

for (const [mode, text] of Object.entries({ documents, metadata }))
  t.test(`peaks of mode ${mode} are the same at any tick`, async (t) => {
    const fine = await played(text, '10s')
    const coarse = await played(text, '20m')
    t.equal(coarse.samples.length, 2)
    t.ok(fine.result.orphans.worst > 0, 'there are orphans')
    t.same(coarse.result.orphans, fine.result.orphans)
    t.same(coarse.result.criticalSections, fine.result.criticalSections)
    for (const [id, { peak, bytes, diskBytes }] of Object.entries(fine.result.shards)) {
      t.same(coarse.result.shards[id]!.peak, peak, id)
      const sampled = fine.samples.map(({ shards }) => shards[id]).filter((shard) => shard !== undefined)
      for (const name of ['bytes', 'diskBytes', 'orphans'] as const)
        t.ok(peak[name] >= Math.max(...sampled.map((shard) => shard[name])), `${id}: ${name} at most`)
      t.ok(diskBytes >= bytes, `${id}: the disk has owned documents and orphans`)
    }
    t.equal(
      fine.samples.reduce((sum, { bytesMoved }) => sum + bytesMoved, 0),
      fine.result.bytesMoved,
      'samples add up to the bytes moved',
    )
  })

t.test('without deletions and growth, peaks follow from the moves alone', async (t) => {
  const text = metadata
    .replace(/workload: .*\n/, '')
    .replace('orphanCleanupDelay: 90s', 'orphanCleanupDelay: 1d')
    .replace(/ {2}- .*\n/g, '')
    .replace('timeline:\n', '')
  const { result, samples } = await played(text, '5m')
  const documentBytes = Object.values(samples[0]!.shards).reduce((sum, { bytes }) => sum + bytes, 0) / 102_400
  const { shard01, shard02 } = result.shards
  t.equal(shard01!.sentBytes, result.bytesMoved)
  t.equal(shard02!.receivedBytes, result.bytesMoved)
  t.equal(result.orphans.last * documentBytes, result.bytesMoved, 'every moved document became an orphan')
  t.equal(shard01!.peak.orphans * documentBytes, result.bytesMoved)
  // The records of both shards count a range while its migration is completed, as on the server.
  const twice = result.orphans.worst - result.orphans.last
  t.ok(twice >= 0 && twice <= shard02!.peak.orphans, `${twice} documents are counted twice`)
  t.ok(shard02!.peak.orphans * documentBytes <= 1024 ** 2, 'the recipient has the orphans of one migration')
  // Entries of _id (12 + 13 bytes), of k and of other (12 + 9 each).
  const withIndexes = 1 + (25 + 21 + 21) / documentBytes
  const atFirst = samples[0]!.shards['shard01']!.bytes
  t.equal(shard01!.peak.diskBytes, Math.round(atFirst * withIndexes), 'nothing was deleted from the donor')
  t.equal(shard02!.peak.diskBytes, Math.round(result.bytesMoved * withIndexes))
  t.equal(shard01!.bytes + result.bytesMoved, shard01!.peak.bytes)
  t.equal(result.bytesMovedLeast, result.bytesMoved)
})

t.test('every figure of a removed shard is the same in all places', async (t) => {
  const run = await played(documents, '10s')
  const { hottest, shards, drains } = run.result
  t.ok(shards['shard02']!.removed)
  const operations = Object.values(shards).reduce((sum, shard) => sum + shard.operations, 0)
  for (const { operations: own } of Object.values(shards))
    t.ok(own / operations <= hottest!.share + 1e-6, 'no shard has a larger share than the hottest')
  t.ok(Math.abs(shards[hottest!.shard]!.operations / operations - hottest!.share) < 1e-5)
  const text = textReport(parseScenario(documents, 'peaks.yaml'), [run])
  const [, summary] = /hottest shard +\S+, (\S+%)/.exec(text)!
  const [, table] = new RegExp(`^ +${hottest!.shard} .* (\\S+%)$`, 'm').exec(text)!
  t.equal(summary, table)
  const drain = drains['shard02']!
  t.equal(drain.beganMs, 360_000)
  t.ok(drain.removedMs! > drain.beganMs)
  const owned = run.samples.findLast(({ atMs }) => atMs <= drain.beganMs)!.shards['shard02']!.bytes
  t.ok(Math.abs(drain.bytes - owned) < 64 * 1024, `${drain.bytes} bytes left a shard of ${owned}`)
})

t.test('chunks move only in the windows of the balancer', async (t) => {
  const text = metadata
    .replace(/workload: .*\n/, '')
    .replace(/ {2}- .*\n/g, '')
    .replace('timeline:\n', 'timeline:\n  - { at: 0s, do: balancerWindow, start: "23:00", stop: "00:30" }\n')
    .replace('migrationBandwidth: 200KB/s', 'migrationBandwidth: 10KB/s')
    .replace('20m', '3d')
  const { result, samples, periods, decisions } = await played(text, '10m')
  const hour = 3_600_000
  t.same(
    periods,
    [
      [0, 0.5],
      [23, 24.5],
      [47, 48.5],
      [71, 72],
    ].map(([from, to]) => ({ fromMs: from! * hour, toMs: to! * hour })),
  )
  t.equal(result.balancing.windows, 4)
  t.equal(result.balancing.openMs, 4.5 * hour)
  const moves = decisions.filter(({ kind }) => kind === 'migration')
  t.ok(moves.length > 10)
  // A migration that began in a window ends after it; it takes less than four minutes here.
  const isInWindow = (atMs: number) => periods.some(({ fromMs, toMs }) => atMs >= fromMs && atMs <= toMs + 240_000)
  t.same(
    moves.filter(({ atMs }) => !isInWindow(atMs)),
    [],
  )
  const inPeriods = periods.map(({ fromMs }, i) =>
    samples
      .filter(({ atMs }) => atMs > fromMs && atMs <= (periods[i + 1]?.fromMs ?? Infinity))
      .reduce((sum, { bytesMoved }) => sum + bytesMoved, 0),
  )
  t.equal(result.balancing.bytesInBusiest, Math.max(...inPeriods))
  t.equal(
    inPeriods.reduce((sum, bytes) => sum + bytes, 0),
    result.bytesMoved,
  )
})
