/**
 * The scenario of the guide on planning: its figures, calculated again from the file and from the
 * events of the cluster. Otherwise a smaller one of the same shape runs, with two of its variants.
 */
import { parseScenario, runVariant, type VariantRun } from '@shardlab/scenario'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { Ledger, sum } from './plan-ledger.js'
import { checkReports, sizeText } from './same-figures.js'

const KB = 1024
const MB = 1024 ** 2
const GB = 1024 ** 3
const hour = 3_600_000
const day = 24 * hour
const isLong = process.env['SHARDLAB_LONG'] === '1'

interface Plan {
  readonly sizeBytes: number
  readonly growthPerDay: number
  readonly chunkBytes: number
  readonly days: number
  readonly drainAtMs: number
}

const whole: Plan = {
  sizeBytes: 2048 * GB,
  growthPerDay: 20 * GB,
  chunkBytes: GB,
  days: 30,
  drainAtMs: 10 * day,
}
const small: Plan = {
  sizeBytes: 32 * GB,
  growthPerDay: GB,
  chunkBytes: 128 * MB,
  days: 1,
  drainAtMs: 22 * hour,
}
const plan = isLong ? whole : small
const documentSize = 2 * KB
/** Reads and updates, of the second workload. */
const operationsPerSecond = 100

function scenarioText(): string {
  const guide = readFileSync(new URL('../../../docs/guides/plan-a-cluster.md', import.meta.url), 'utf8')
  const text = /```yaml\n(version: 1\n.*?)```/s.exec(guide)![1]!
  if (isLong) return text
  const smaller = {
    'chunkSize: 1GB': 'chunkSize: 128MB',
    'size: 2TB': 'size: 32GB',
    'growth: 20GB/d': 'growth: 1GB/d',
    'at: 3d, do': 'at: 1h, do',
    'at: 3d 1h, do: addShardToZone, shard: shard07': 'at: 2h, do: addShardToZone, shard: shard07',
    'at: 3d 1h, do: addShardToZone, shard: shard08': 'at: 2h, do: addShardToZone, shard: shard08',
    'at: 10d': 'at: 22h',
    'duration: 30d': 'duration: 1d',
    'tick: 12h': 'tick: 2h',
  }
  return Object.entries(smaller).reduce((all, [from, to]) => {
    if (!all.includes(from)) throw new Error(`the guide has no ${from}`)
    return all.replace(from, to)
  }, text)
}

const near = (a: number, b: number, share: number): boolean => Math.abs(a - b) <= Math.abs(b) * share
const nightOf = (atMs: number): number => Math.floor((atMs + 2 * hour) / day)

const written = parseScenario(scenarioText(), 'plan-a-cluster.yaml')
const file = isLong
  ? written
  : { ...written, variants: written.variants.filter(({ name }) => !name.includes('hashed')) }
const runs: VariantRun[] = []

for (const variant of file.variants)
  t.test(`${variant.name}: figures follow from the file and the events`, async (t) => {
    const fields = Object.keys(variant.collections[0]!.key).length
    const ledger = new Ledger(12 + 13 + 12 + 9 * fields)
    let isLoaded = false
    const run = await runVariant(
      variant,
      (share) => {
        // The share of loading is 0.2; the first event of the run is later.
        if (share < 0.2 || isLoaded) return
        isLoaded = true
        ledger.begin()
      },
      { onEvent: ledger.onEvent },
    )
    runs.push(run)
    checkBytes(t, run)
    checkMigrations(t, run, ledger)
    checkWindows(t, run, ledger)
    checkDrain(t, run, ledger)
    checkPeaks(t, run, ledger)
    checkRepeated(t, run)
  })

function checkBytes(t: Test, { result, samples }: VariantRun): void {
  const documents = plan.sizeBytes / documentSize
  const total = (i: number): number => sum(Object.values(samples.at(i)!.shards).map(({ bytes }) => bytes))
  const documentBytes = total(0) / documents
  t.equal(documentBytes, Math.round(documentBytes), 'all documents have the same size')
  for (const [i, { atMs }] of samples.entries()) {
    const expected = (documents + (plan.growthPerDay / documentSize) * (atMs / day)) * documentBytes
    // Growth is computed 500 times in a run, at least every ten minutes. Documents whose range has
    // just moved are sent again one step later.
    const stepMs = Math.min((plan.days * day) / 500, 10 * 60_000)
    const step = (plan.growthPerDay / documentSize) * (stepMs / day) * documentBytes
    const missing = expected - total(i)
    t.ok(missing > -documentBytes && missing <= 2 * step, `${missing} bytes are missing after ${atMs / hour} h`)
  }
  t.ok(
    near(
      result.operations.total,
      (operationsPerSecond + plan.growthPerDay / documentSize / 86_400) * plan.days * 86_400,
      1e-6,
    ),
    'operations',
  )
  if (result.name === 'region and tenant') {
    t.ok(result.jumboChunks > 0, 'a tenant is larger than a chunk')
    return
  }
  t.equal(result.jumboChunks, 0)
  const inZone = (zone: string): number =>
    sum(Object.values(result.shards).map(({ bytes, zones }) => (zones.includes(zone) ? bytes : 0)))
  t.ok(near(inZone('eu'), 0.7 * total(-1), 1e-4), 'the zone with the hot region has 70%')
  t.ok(near(inZone('us'), 0.3 * total(-1), 1e-4))
  // A shard that no round leaves out is within three chunks of the others, and the growth of a day.
  const eu = Object.values(result.shards).filter(({ zones, removed }) => zones.includes('eu') && !removed)
  const [most, least] = [Math.max(...eu.map(({ bytes }) => bytes)), Math.min(...eu.map(({ bytes }) => bytes))]
  t.ok(most - least < 3 * plan.chunkBytes + plan.growthPerDay, `eu is even: ${sizeText(most - least)}`)
}

function checkMigrations(t: Test, { result, samples }: VariantRun, ledger: Ledger): void {
  const { moved } = ledger
  const { migrations, shards } = result
  t.equal(migrations.total, moved.length)
  t.equal(migrations.total, sum(Object.values(migrations.byReason)))
  t.equal(migrations.aborted, ledger.aborted)
  t.equal(result.splits, ledger.splits)
  t.equal(result.merges, ledger.mergedOver)
  const bytes = sum(moved.map((each) => each.bytes))
  t.equal(result.bytesMoved, bytes)
  t.equal(sum(samples.map(({ bytesMoved }) => bytesMoved)), bytes)
  for (const [id, shard] of Object.entries(shards)) {
    t.equal(shard.sentBytes, sum(moved.map(({ from, bytes }) => (from === id ? bytes : 0))), `sent by ${id}`)
    t.equal(shard.receivedBytes, sum(moved.map(({ to, bytes }) => (to === id ? bytes : 0))), `received by ${id}`)
  }
  const net = Object.keys(shards).map((id) =>
    Math.max(0, sum(moved.map(({ from, to, bytes }) => (from === id ? bytes : to === id ? -bytes : 0)))),
  )
  t.equal(result.bytesMovedLeast, sum(net), 'what shards gave beyond what they got')
  t.ok(
    moved.every(({ bytes }) => bytes <= plan.chunkBytes * 2),
    'a range of one key can move up to twice the size of a chunk',
  )
  t.equal(result.criticalSections.longestMs, Math.max(0, ...ledger.criticalMs.map(rounded)))
  t.ok(Math.abs(result.criticalSections.totalMs - sum(ledger.criticalMs)) < 1)
  // Documents that grow between the statistics and the start of the migration.
  const slack = (plan.growthPerDay / day) * 20 * 60_000
  t.ok(
    ledger.differences.every((difference) => difference >= 3 * plan.chunkBytes - slack),
    `chunks move for balance only from three chunks on: ${sizeText(Math.min(...ledger.differences, Infinity))}`,
  )
  if (result.name !== 'region and tenant') t.ok(ledger.differences.length > 20, 'many were compared')
}

const rounded = (ms: number): number => Number(ms.toFixed(3))

function checkWindows(t: Test, { result, periods }: VariantRun, ledger: Ledger): void {
  const { windows, openMs, bytesInBusiest, bytesPerHour } = result.balancing
  t.equal(windows, plan.days + 1, 'nights, the first and the last in part')
  t.equal(openMs, plan.days * 8 * hour)
  t.equal(periods.length, windows)
  for (const atMs of ledger.startedAt) {
    const time = atMs % day
    if (time > 6 * hour + 60_000 && time < 22 * hour) t.fail(`a migration began at ${time / hour} h`)
  }
  const byNight = new Map<number, number>()
  for (const { atMs, bytes } of ledger.moved) byNight.set(nightOf(atMs), (byNight.get(nightOf(atMs)) ?? 0) + bytes)
  t.equal(bytesInBusiest, Math.max(0, ...byNight.values()))
  const first = nightOf(ledger.midnightMs)
  const openHours = (night: number): number => (night === first ? 6 : night === first + plan.days ? 2 : 8)
  const hours = sum([...byNight.keys()].map(openHours))
  const perHour = hours === 0 ? 0 : sum([...byNight.values()]) / hours
  t.ok(Math.abs(bytesPerHour - perHour) <= 1, 'of the nights in which something moved')
}

function checkDrain(t: Test, { result, samples }: VariantRun, ledger: Ledger): void {
  t.same(Object.keys(result.drains), ['shard02'])
  const { beganMs, removedMs, bytes, migrations, windows } = result.drains['shard02']!
  t.equal(beganMs, plan.drainAtMs)
  const left = ledger.moved.filter(({ from, atMs }) => from === 'shard02' && atMs - ledger.midnightMs >= beganMs)
  t.equal(migrations, left.length)
  t.equal(bytes, sum(left.map((each) => each.bytes)))
  t.equal(windows, new Set(left.map(({ atMs }) => nightOf(atMs))).size)
  if (result.name === 'region and tenant') return
  t.ok(removedMs !== null && removedMs > beganMs)
  const before = samples.findLast(({ atMs }) => atMs <= beganMs)!.shards['shard02']!.bytes
  t.ok(near(bytes, before, 0.02), 'what it had, and what grew meanwhile')
  t.equal(result.shards['shard02']!.removed, true)
  t.equal(result.shards['shard02']!.bytes, 0)
  // The time that its bytes need at 100 MB/s is the least.
  t.ok(removedMs! - beganMs > (bytes * 1000) / (100 * MB))
}

function checkPeaks(t: Test, { result }: VariantRun, ledger: Ledger): void {
  t.equal(result.orphans.worst, ledger.mostOrphans)
  for (const [id, { peak }] of Object.entries(result.shards))
    t.same(peak, ledger.most.get(id) ?? { bytes: 0, diskBytes: 0, orphans: 0 }, `peaks of ${id}`)
  // Orphans stay for 15 minutes at least.
  const { moved } = ledger
  let [from, waiting, most] = [0, 0, 0]
  for (const { atMs, documents } of moved) {
    waiting += documents
    while (moved[from]!.atMs < atMs - 15 * 60_000) waiting -= moved[from++]!.documents
    most = Math.max(most, waiting)
  }
  t.ok(result.orphans.worst >= most, `${result.orphans.worst} orphans, at least ${most}`)
}

/** Figures that the result has in two places. */
function checkRepeated(t: Test, { result, samples }: VariantRun): void {
  const { imbalance, shards, hottest, orphans } = result
  const { first, worst, last, bytes } = imbalance
  t.same(
    [first, worst, last],
    [bytes.first, bytes.worst, bytes.last].map((each) => each.maxToMean),
  )
  const present = Object.values(shards).filter(({ removed, draining }) => !removed && !draining)
  const sizes = present.map((shard) => shard.bytes)
  t.ok(
    near(last, (Math.max(...sizes) * sizes.length) / sum(sizes), 1e-3),
    'the imbalance at the end is that of the shards',
  )
  t.equal(orphans.last, sum(Object.values(shards).map((shard) => shard.orphans)))
  const operations = Object.values(shards).map((shard) => shard.operations)
  t.equal(shards[hottest!.shard]!.operations, Math.max(...operations))
  t.ok(near(hottest!.share, Math.max(...operations) / sum(operations), 1e-3))
  for (const [id, sample] of Object.entries(samples.at(-1)!.shards))
    for (const name of ['bytes', 'diskBytes', 'orphans', 'chunks'] as const)
      t.equal(shards[id]![name], sample[name], `${name} of ${id} at the end`)
  const needs = result.reshardingNeeds['shop.orders']!
  t.equal(
    needs.bytes,
    sum(sizes) +
      sum(
        Object.values(shards)
          .filter(({ draining }) => draining)
          .map((each) => each.bytes),
      ),
  )
  t.equal(needs.freeBytesPerShard, Math.ceil((2 * (needs.bytes + needs.indexBytes)) / needs.shards))
}

t.test('a figure is the same in text, page, JSON and CSV', (t) => {
  checkReports(t, file, runs)
  t.end()
})
