import { Script } from 'node:vm'
import {
  htmlReport,
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
    chunks: { 'a.b': names.map((shard, i) => ({ min: String(i).padStart(6, '0'), minText: `{"k":${i}}`, shard })) },
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

const dataOf = (page: string): { times: string[]; shards: string[]; tones: string[]; bytes: number[][] } =>
  JSON.parse(/<script type="application\/json">(.*?)<\/script>/s.exec(page)![1]!)

t.test('a page has plots, a map, and a slider with the numbers of each shard at each instant', async (t) => {
  const page = htmlReport(file, [runOf(3, 11, 5)])
  t.match(page, 'A &lt;b&gt; scenario.')
  t.match(page, '<p class="about">Why &lt;i&gt; it is so.</p>')
  t.match(page, '<summary>Glossary</summary>')
  for (const part of [
    'Bytes owned by each shard',
    'Chunks',
    'Operations sent to each shard',
    'Owners of a.b over time',
    '<input type="range"',
  ])
    t.match(page, part)
  const { times, shards, tones, bytes } = dataOf(page)
  t.same([times[0], times.at(-1)], ['0s', '10m'])
  t.same(shards, ['shard01', 'shard02', 'shard03'])
  t.same(tones, ['s0', 's1', 's2'])
  t.same(bytes.at(-1), [30 * 1024, 20 * 1024, 10 * 1024])
  t.equal(page.match(/<g class="row"/g)!.length, 11, 'the map has a row for each instant')
  const [, script] = /<script>(.*?)<\/script>/s.exec(page)!
  t.doesNotThrow(() => new Script(script!))
})

t.test('a page shows at most 61 instants, among them the first and the last', async (t) => {
  for (const instants of [1, 59, 60, 61, 200, 1000]) {
    const { times } = dataOf(htmlReport(file, [runOf(2, instants)]))
    t.ok(times.length <= 61 && times.length >= Math.min(instants, 30), `${times.length} of ${instants}`)
    t.equal(times[0], '0s')
    t.equal(dataOf(htmlReport(file, [runOf(2, instants)])).bytes.at(-1)![0], 2 * 1024 * (instants - 1))
  }
})

t.test('a run without data has no empty plots or rows', async (t) => {
  const [page] = htmlReport(file, [runOf(2, 1)]).split('<script>')
  t.notMatch(page, /Bytes owned by each shard|Operations sent to|NaN|Infinity|undefined/)
  t.match(page, 'The balancer made no decisions.')
  t.notMatch(textReport(file, [runOf(2, 1)]), /jumbo chunks|orphaned|operations \/ failed/)
  t.match(textReport(file, [runOf(2, 2, 7)]), /operations \/ failed +14 \/ 0/)
})

t.test(
  'a page of a thousand shards has a colour for each shard and cells instead of bars, and the text lists both extremes',
  async (t) => {
    const run = runOf(1000, 100, 1)
    const page = htmlReport(file, [run])
    t.ok(page.length < 4_500_000, `${page.length} characters`)
    t.match(page, '<div class="cells"')
    t.match(page, /rect\.g999\{fill:hsl\(/)
    t.equal(new Set(dataOf(page).tones).size, 1000)
    t.match(page, 'largest')
    t.match(page, '<summary>1,000 shards at the end</summary>')
    const text = textReport(file, [run])
    t.match(text, /shard01 .*\n/)
    t.match(text, '… 976 more shards …')
    t.match(text, /shard1000 /)
    t.notMatch(text, /shard500 /)
  },
)

t.test('plots mark faults as bands and steps of the timeline as lines', async (t) => {
  const faults = Array.from({ length: 12 }, (_, i): Decision[] => [
    { atMs: i * 60_000, kind: 'fault', text: `crash shard0${i} for 30s` },
    { atMs: i * 60_000 + 30_000, kind: 'fault', text: `ended: crash shard0${i} for 30s` },
  ]).flat()
  const page = htmlReport(file, [
    { ...runOf(2, 21), decisions: [...faults, { atMs: 900_000, kind: 'timeline', text: 'addShard' }] },
  ])
  const [plot] = page.split('Bytes owned by each shard').slice(2)[0]!.split('</svg>')
  t.equal(plot!.match(/class="band"/g)!.length, 12)
  t.equal(plot!.match(/class="mark"/g)!.length, 13)
  t.notMatch(plot, 'ended:')
})

t.test('the axis of the plot that compares variants covers the longest variant', async (t) => {
  const page = htmlReport(file, [runOf(2, 11), { ...runOf(2, 61), result: { ...runOf(2, 61).result, name: 'longer' } }])
  const [, plot] = /largest shard \/ mean<(.*?)<\/svg>/s.exec(page)!
  t.match(plot, '>1h<')
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
      chunks: { 'a.b': chunks.map(([at, shard]) => ({ min: key(at), minText: `{"k":${at}}`, shard })) },
    }
  })
  const bytes = samples.at(-1)!.chunks['a.b']!.map(({ shard }) => (shard === 'shard01' ? 1e9 : 1))
  const page = htmlReport(file, [{ ...run, samples, maps: { 'a.b': { bytes, zones: [] } } }])
  const { shards, tones } = dataOf(page)
  const rows = [...page.matchAll(/<g class="row"[^>]*>(.*?)<\/g>/gs)].map(([, row]) => row!)
  t.equal(rows.length, 30)
  for (const [i, row] of rows.entries()) {
    const rects = [...row.matchAll(/<rect class="(\w+)" [^>]* width="([\d.]+)"/g)]
    t.ok(
      rects.every(([, , width]) => Number(width) > 1),
      `seed ${seed}: no part of row ${i} is narrower than a pixel`,
    )
    t.equal(new Set(rects.map(([, tone]) => tone)).size, 100, `seed ${seed}: row ${i} shows all shards`)
  }
  for (const [i, shard] of shards.entries())
    t.match(page, `<span data-tone="${tones[i]}"><i class="${tones[i]}"></i>${shard}<`)
})

t.test('ranges of a map are as wide as their bytes, or as their keys, and zones are above them', async (t) => {
  const run = runOf(2, 3)
  const chunks = {
    'a.b': [0, 10, 100].map((at, i) => ({
      min: String(at).padStart(4, '0'),
      minText: `{"k":${at}}`,
      shard: `shard0${1 + (i % 2)}`,
    })),
  }
  const map = { bytes: [600, 300, 100], zones: [{ min: '0000', max: '0010', zone: 'E<U>' }] }
  const page = htmlReport(file, [
    { ...run, samples: run.samples.map((sample) => ({ ...sample, chunks })), maps: { 'a.b': map } },
  ])
  const edges = (name: string) => new RegExp(`data-${name}="([\\d. ]+)"`).exec(page)![1]!.split(' ').map(Number)
  const widths = (all: number[]) => all.slice(1).map((edge, i) => Math.round((100 * (edge - all[i]!)) / all.at(-1)!))
  t.same(widths(edges('bytes')), [60, 30, 10])
  const [first, second] = widths(edges('keys'))
  t.ok(second! / first! > 8 && second! / first! < 11, 'ten keys to ninety')
  t.match(page, '>E&lt;U&gt;</text>')
})

t.test('the time of a report is that of the wall, though variants run side by side', async (t) => {
  const at = (fromMs: number, toMs: number): VariantRun => ({ ...runOf(2, 11), real: { fromMs, toMs } })
  const runs = [at(1000, 81_000), at(1000, 61_000), at(61_000, 101_000)]
  t.match(textReport(file, runs), '30m simulated in 100.0 s, seed 1.')
  t.match(htmlReport(file, runs), 'simulated in 100.0 s of real time')
})

t.test('the ratio of chunks is shown only for versions that balance chunks', async (t) => {
  const chunks = 'chunks, largest / mean'
  const of = (emulate: string): VariantRun => {
    const run = runOf(2, 11)
    return { ...run, result: { ...run.result, emulate } }
  }
  for (const report of [textReport, htmlReport]) {
    for (const emulate of ['6.0', '7.0', '8.0']) t.notMatch(report(file, [of(emulate)]), chunks, emulate)
    for (const emulate of ['4.4', '6.0.2']) t.match(report(file, [of(emulate)]), chunks, emulate)
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
  const page = htmlReport(file, [zoned])
  t.match(page, `scenario: not converged. ${because}.`)
  t.match(page, '<td class="part">in zone US</td>')
  t.match(page, '>zone US</span>', 'the plot has a line for the zone')
})

t.test('plots show windows of the balancer, disks and throughput, and ratios begin at 1', async (t) => {
  const run = runOf(2, 11)
  const samples = run.samples.map((sample, i) => ({ ...sample, bytesMoved: i * 1024 }))
  const periods = [
    { fromMs: 60_000, toMs: 120_000 },
    { fromMs: 240_000, toMs: 300_000 },
  ]
  const result = { ...run.result, bytesMoved: 55 * 1024, orphans: { worst: 5, last: 0 } }
  const page = htmlReport(file, [{ ...run, result, samples, periods }])
  const plotOf = (title: string): string =>
    page.split('<figure>').find((figure) => figure.includes(`aria-label="${title}"`)) ?? ''
  for (const title of [
    'Bytes owned by each shard',
    'Disk of each shard: documents and orphans',
    'Moved by migrations',
  ]) {
    const [large] = plotOf(title).split('</svg>')
    t.equal(large!.match(/<rect class="open"/g)!.length, 2, title)
    t.match(plotOf(title), '>the balancer may work</span>')
  }
  const [ticks] = plotOf('Bytes: largest shard / mean').split('</svg>')
  const values = [...ticks!.matchAll(/text-anchor="end"[^>]*>([\d.]+)</g)].map(([, value]) => Number(value))
  t.ok(values.length > 2)
  t.equal(Math.min(...values), 1)
  t.notMatch(htmlReport(file, [run]), 'the balancer may work', 'a balancer that always works needs no bands')
})
