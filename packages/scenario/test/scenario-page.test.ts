import type { Owners, ReportPage } from '@shardlab/report'
import { allParts, chartOf, partsOf, rowsOf } from '@shardlab/report/testing'
import {
  scenarioPage,
  textReport,
  type Decision,
  type Sample,
  type ScenarioFile,
  type VariantResult,
  type VariantRun,
} from '@shardlab/scenario'
import t from 'tap'

const file: ScenarioFile = {
  path: 'big.yaml',
  shows: 'A <b> scenario.',
  about: 'Why <i> it is so.',
  seed: 1,
  variants: [],
  warnings: [],
}
const even = { maxToMean: 1, deviation: 0 }
const always = { first: even, worst: even, last: even }

/** Earlier shards have more bytes. */
function runOf(shards: number, instants: number, operations = 0): VariantRun {
  const names = Array.from({ length: shards }, (_, i) => `shard${String(i + 1).padStart(2, '0')}`)
  const samples = Array.from({ length: instants }, (_, at): Sample => ({
    atMs: at * 60_000,
    shards: Object.fromEntries(
      names.map((name, i) => [
        name,
        {
          bytes: (shards - i) * 1024 * at,
          orphans: 0,
          diskBytes: (shards - i) * 1024 * at,
          chunks: 1,
          operations,
          draining: false,
          zones: [],
        },
      ]),
    ),
    succeeded: operations,
    failed: 0,
    bytesMoved: 0,
    jumboChunks: 0,
    lagMs: 0,
    chunks: { 'a.b': names.map((shard, i) => ({ key: String(i).padStart(6, '0'), min: `{"k":${i}}`, shard })) },
  }))
  const result: VariantResult = {
    name: 'scenario',
    emulate: '7.0',
    mode: 'documents',
    durationMs: (instants - 1) * 60_000,
    imbalance: { first: 1, worst: 1, last: 1, bytes: always, chunks: always, operations: null, zones: {} },
    migrations: {
      total: 0,
      byReason: { draining: 0, zoneViolation: 0, chunksImbalance: 0, defragment: 0, other: 0 },
      aborted: 0,
      repeated: 0,
      returned: 0,
    },
    splits: 0,
    merges: 0,
    bytesMoved: 0,
    bytesMovedLeast: 0,
    convergedAtMs: 0,
    blocked: [],
    balancing: { windows: 1, openMs: (instants - 1) * 60_000, bytesInBusiest: 0, bytesPerHour: 0 },
    reshardings: [],
    reshardingNeeds: {},
    drains: {},
    jumboChunks: 0,
    orphans: { worst: 0, last: 0 },
    criticalSections: { longestMs: 0, totalMs: 0 },
    operations: {
      total: operations * instants,
      failed: 0,
      latencyMs: { p50: 1, p99: 2, max: 3 },
      errors: {},
      routed: { targeted: 1, multi: 0, broadcast: 0 },
    },
    transactions: null,
    replication: null,
    shapes: [],
    hottest: null,
    shards: Object.fromEntries(
      Object.entries(samples.at(-1)!.shards).map(([id, shard]) => [
        id,
        { ...shard, removed: false, peak: shard, sentBytes: 0, receivedBytes: 0 },
      ]),
    ),
    failedSteps: [],
    failedExpectations: [],
    traceHash: 'abc',
  }
  return {
    result,
    samples,
    decisions: [],
    maps: { 'a.b': { bytes: names.map((_, i) => (i + 1) * 1024), zones: [] } },
    periods: [],
    real: { fromMs: 0, toMs: 1 },
  }
}

const instantsOf = (page: ReportPage) => partsOf(page, 'instants')[0]!
const ownersOf = (page: ReportPage): Owners => instantsOf(page).owners[0]!
/** Of all parts outside of a run's instants. */
const textsOf = (page: ReportPage): string => JSON.stringify(allParts(page).filter(({ kind }) => kind !== 'instants'))

t.test('a page has charts, a map, and the numbers of each shard at each instant', async (t) => {
  const page = scenarioPage(file, [runOf(3, 11, 5)])
  t.match(
    page.parts.filter(({ kind }) => kind === 'paragraph').slice(0, 2),
    [{ text: 'A <b> scenario.' }, { text: 'Why <i> it is so.' }],
    'texts are plain',
  )
  t.match(page.text, /A <b> scenario\.[^]*operations \/ failed/, 'the text of the command is the page without scripts')
  t.match(rowsOf(page, 'Glossary'), [[/chunk/, /range/]])
  for (const title of ['Bytes owned by each shard', 'Chunks', 'Operations sent to each shard'])
    t.same(
      chartOf(page, title).series.map(({ name, tone }) => [name, tone]),
      [
        ['shard01', 0],
        ['shard02', 1],
        ['shard03', 2],
      ],
    )
  const { times, shards, bytes } = instantsOf(page)
  t.same([times[0], times.at(-1)], [0, 600_000])
  t.same(shards, ['shard01', 'shard02', 'shard03'])
  t.same(bytes.at(-1), [30 * 1024, 20 * 1024, 10 * 1024])
  t.match(ownersOf(page), { ns: 'a.b', bounds: ['{"k":0}', '{"k":1}', '{"k":2}'] })
  t.equal(ownersOf(page).rows.length, 11, 'the map has a row for each instant')
  t.strictSame(JSON.parse(JSON.stringify(page)), page, 'JSON keeps all of it')
})

t.test('a page shows at most 61 instants, among them the first and the last', async (t) => {
  for (const instants of [1, 59, 60, 61, 200, 1000]) {
    const { times, bytes } = instantsOf(scenarioPage(file, [runOf(2, instants)]))
    t.ok(times.length <= 61 && times.length >= Math.min(instants, 30), `${times.length} of ${instants}`)
    t.equal(times[0], 0)
    t.equal(bytes.at(-1)![0], 2 * 1024 * (instants - 1))
  }
})

t.test('a run without data has no empty charts or rows', async (t) => {
  const page = scenarioPage(file, [runOf(2, 1)])
  t.same(
    partsOf(page, 'lines').map(({ title }) => title),
    ['Chunks'],
  )
  t.notMatch(textsOf(page), /NaN|Infinity|undefined/)
  t.match(textsOf(page), 'The balancer made no decisions.')
  t.strictSame(JSON.parse(JSON.stringify(page)), page)
  t.notMatch(textReport(file, [runOf(2, 1)]), /jumbo chunks|orphaned|operations \/ failed/)
  t.match(textReport(file, [runOf(2, 2, 7)]), /operations \/ failed +14 \/ 0/)
})

t.test('a page of a thousand shards has three lines in each chart, and the text lists both extremes', async (t) => {
  const run = runOf(1000, 100, 1)
  const page = scenarioPage(file, [run])
  t.ok(JSON.stringify(page).length < 2_500_000, `${JSON.stringify(page).length} characters`)
  t.equal(instantsOf(page).shards.length, 1000)
  for (const { series } of partsOf(page, 'lines').filter(({ title }) => /each shard/.test(title)))
    t.same(
      series.map(({ name }) => name),
      ['largest', 'mean', 'smallest'],
    )
  t.match(partsOf(page, 'details'), [{}, { summary: '1,000 shards at the end', isOpen: false }])
  const text = textReport(file, [run])
  t.match(text, /shard01 .*\n/)
  t.match(text, '… 976 more shards …')
  t.match(text, /shard1000 /)
  t.notMatch(text, /shard500 /)
})

t.test('charts mark faults as bands and steps of the timeline as lines', async (t) => {
  const faults = Array.from({ length: 12 }, (_, i): Decision[] => [
    { atMs: i * 60_000, kind: 'fault', text: `crash shard0${i} for 30s` },
    { atMs: i * 60_000 + 30_000, kind: 'fault', text: `ended: crash shard0${i} for 30s` },
  ]).flat()
  const decisions: Decision[] = [...faults, { atMs: 900_000, kind: 'timeline', text: 'addShard' }]
  const { marks } = chartOf(scenarioPage(file, [{ ...runOf(2, 21), decisions }]), 'Bytes owned by each shard')
  t.equal(marks.length, 13)
  t.same(marks[1], { at: 60_000, until: 90_000, text: 'crash shard01 for 30s' })
  t.same(marks[12], { at: 900_000, text: 'addShard' })
})

t.test('the chart that compares variants covers the longest variant', async (t) => {
  const longer = { ...runOf(2, 61), result: { ...runOf(2, 61).result, name: 'longer' } }
  const [chart] = partsOf(scenarioPage(file, [runOf(2, 11), longer]), 'lines')
  t.match(chart!.series, [{ name: 'scenario' }, { name: 'longer' }])
  t.equal(chart!.series[1]!.points.at(-1)![0], 3_600_000)
  t.equal(chart!.y.from, 1)
})

t.test('the map of owners shows every shard at every instant, whatever its share of the keys', async (t) => {
  const seed = Number(process.env['SHARDLAB_SEED'] ?? 1)
  let state = seed
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state % below
  }
  const run = runOf(100, 30)
  const key = (n: number): string => String(n).padStart(6, '0')
  const samples = run.samples.map((sample): Sample => {
    // Most chunks belong to shard01, and each other shard has one small chunk at a changing place.
    const mins = new Map([[0, 'shard01']])
    for (let i = 2; i <= 100; i++) {
      let at = 1 + random(99_990)
      while (mins.has(at) || mins.has(at + 1)) at++
      mins.set(at, `shard${String(i).padStart(2, '0')}`)
      mins.set(at + 1, 'shard01')
    }
    const chunks = [...mins].sort(([a], [b]) => a - b)
    return {
      ...sample,
      chunks: { 'a.b': chunks.map(([at, shard]) => ({ key: key(at), min: `{"k":${at}}`, shard })) },
    }
  })
  const bytes = samples.at(-1)!.chunks['a.b']!.map(({ shard }) => (shard === 'shard01' ? 1e9 : 1))
  const { rows, bounds } = ownersOf(scenarioPage(file, [{ ...run, samples, maps: { 'a.b': { bytes, zones: [] } } }]))
  t.equal(rows.length, 30)
  for (const [i, row] of rows.entries()) {
    t.equal(new Set(row.map(([, , shard]) => shard)).size, 100, `seed ${seed}: row ${i} shows all shards`)
    t.equal(row[0]![0], 0)
    t.equal(row.at(-1)![1], bounds.length)
    t.ok(
      row.slice(1).every(([from], at) => from === row[at]![1]),
      'without gaps',
    )
  }
})

t.test('ranges of a map have the shares of their bytes and of their keys, and zones', async (t) => {
  const run = runOf(2, 3)
  const chunks = {
    'a.b': [0, 10, 100].map((at, i) => ({
      key: String(at).padStart(4, '0'),
      min: `{"k":${at}}`,
      shard: `shard0${1 + (i % 2)}`,
    })),
  }
  const map = { bytes: [600, 300, 100], zones: [{ fromKey: '0000', toKey: '0010', zone: 'E<U>' }] }
  const samples = run.samples.map((sample) => ({ ...sample, chunks }))
  const { widths, zones } = ownersOf(scenarioPage(file, [{ ...run, samples, maps: { 'a.b': map } }]))
  t.match(widths, [{ name: 'bytes', shares: [0.6, 0.3, 0.1] }, { name: 'keys' }])
  const [first, second] = widths[1]!.shares
  t.ok(second! / first! > 8 && second! / first! < 11, 'ten keys to ninety')
  t.same(zones, [{ zone: 'E<U>', from: 0, to: 1 }])
})

t.test('the time of a report is that of the wall, though variants run side by side', async (t) => {
  const at = (fromMs: number, toMs: number): VariantRun => ({ ...runOf(2, 11), real: { fromMs, toMs } })
  const runs = [at(1000, 81_000), at(1000, 61_000), at(61_000, 101_000)]
  t.match(textReport(file, runs), '30m simulated in 100.0 s, seed 1.')
  t.match(textsOf(scenarioPage(file, runs)), 'simulated in 100.0 s of real time')
})

t.test('the ratio of chunks is shown only for versions that balance chunks', async (t) => {
  const chunks = 'chunks, largest / mean'
  const of = (emulate: string): VariantRun => {
    const run = runOf(2, 11)
    return { ...run, result: { ...run.result, emulate } }
  }
  const page = (runs: readonly VariantRun[]): string => textsOf(scenarioPage(file, runs))
  for (const report of [(runs: readonly VariantRun[]) => textReport(file, runs), page]) {
    for (const emulate of ['6.0', '7.0', '8.0']) t.notMatch(report([of(emulate)]), chunks, emulate)
    for (const emulate of ['4.4', '6.0.2']) t.match(report([of(emulate)]), chunks, emulate)
  }
})

t.test('reports show the imbalance of each zone, and why nothing moves', async (t) => {
  const run = runOf(2, 11)
  const inZone = { maxToMean: 1.75, deviation: 1 }
  const because = 'shop.orders: zone US: shard01 is the heaviest and not in it, so nothing moves in this round'
  const result: VariantResult = {
    ...run.result,
    convergedAtMs: null,
    blocked: [because],
    imbalance: { ...run.result.imbalance, zones: { US: { first: even, worst: inZone, last: inZone } } },
  }
  const samples = run.samples.map((sample) => ({
    ...sample,
    shards: Object.fromEntries(Object.entries(sample.shards).map(([id, shard]) => [id, { ...shard, zones: ['US'] }])),
  }))
  const zoned = { ...run, result, samples }
  t.match(textReport(file, [zoned]), / {2}in zone US +1.00 \/ 1.75 \/ 1.75\n/)
  t.match(textReport(file, [zoned]), `scenario: not converged. ${because}.`)
  const page = scenarioPage(file, [zoned])
  t.match(partsOf(page, 'list'), [{ items: [`scenario: not converged. ${because}.`], tone: 'bad' }])
  const [results] = partsOf(page, 'table')
  t.match(results!.rows, [{}, {}, { cells: ['in zone US', '1.00 / 1.75 / 1.75'], isPart: true }])
  t.match(chartOf(page, 'Bytes: largest shard / mean').series, [{}, { name: 'zone US' }])
})

t.test('charts show windows of the balancer, disks and throughput, and ratios begin at 1', async (t) => {
  const run = runOf(2, 11)
  const samples = run.samples.map((sample, i) => ({ ...sample, bytesMoved: i * 1024 }))
  const periods = [
    { fromMs: 60_000, toMs: 120_000 },
    { fromMs: 240_000, toMs: 300_000 },
  ]
  const result = { ...run.result, bytesMoved: 55 * 1024, orphans: { worst: 5, last: 0 } }
  const page = scenarioPage(file, [{ ...run, result, samples, periods }])
  for (const title of ['Bytes owned by each shard', 'Disk of each shard: documents and orphans', 'Moved by migrations'])
    t.same(
      chartOf(page, title).bands,
      {
        name: 'the balancer may work',
        ranges: [
          [60_000, 120_000],
          [240_000, 300_000],
        ],
      },
      title,
    )
  t.equal(chartOf(page, 'Bytes: largest shard / mean').y.from, 1)
  const always = scenarioPage(file, [{ ...run, periods: [{ fromMs: 0, toMs: 600_000 }] }])
  t.equal(chartOf(always, 'Chunks').bands, null, 'a balancer that always works needs no bands')
})
