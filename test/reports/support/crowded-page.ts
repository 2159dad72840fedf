/** A report in which everything is crowded: many shards, ticks and events, and long names. */
import {
  heading,
  lineChart,
  ownersOf,
  table,
  type Instants,
  type LineChart,
  type ReportPage,
  type Series,
} from '@shardlab/report'

const minuteMs = 60_000
const shards = Array.from({ length: 40 }, (_, i) => `shard${String(i + 1).padStart(2, '0')}`)
const times = Array.from({ length: 61 }, (_, i) => i * 10 * minuteMs)
const time = { label: 'time since the start', format: 'milliseconds' } as const
const long = 'a name that is as long as those of some replica sets, databases and collections are, or longer'

const series: Series[] = Array.from({ length: 16 }, (_, tone) => ({
  ...{ name: `${tone === 3 ? long : 'shard'} ${tone}`, tone },
  points: times.map((atMs, i) => [atMs, (tone + 1) * 1000 * Math.sqrt(i)] as const),
}))

const manyMarks: LineChart = lineChart({
  ...{ title: `Bytes of ${long}`, x: time, y: { label: 'bytes', format: 'number' }, series },
  // With more, lines would have to cross texts.
  marks: Array.from({ length: 7 }, (_, i) => ({
    ...{ at: i * 50 * minuteMs, text: i === 0 ? long : `crash shard${i} for 5m` },
    ...(i % 2 === 0 ? { until: i * 50 * minuteMs + 5 * minuteMs } : {}),
  })),
})!

const manyTicks: LineChart = lineChart({
  title: 'Operations a second',
  x: { label: 'shards', format: 'number', scale: 'log', ticks: Array.from({ length: 64 }, (_, i) => i + 1) },
  y: { label: 'a second', format: 'integer', scale: 'log' },
  series: [{ name: 'all', tone: 0, points: Array.from({ length: 64 }, (_, i) => [i + 1, 1_000_000 / (i + 1)]) }],
  hasDots: true,
})!

const key = (n: number): string => String(n).padStart(4, '0')

const instants: Instants = {
  ...{ kind: 'instants', times, shards, charts: [manyMarks] },
  bytes: times.map((_, at) => shards.map((__, i) => (i === 7 ? null : 1e9 * (i + at)))),
  chunks: times.map(() => shards.map((_, i) => i)),
  orphans: times.map(() => shards.map(() => 0)),
  owners: [
    ownersOf({
      ...{ ns: `shop.${long}`, shards, sizes: { name: 'bytes', title: 'bytes at the end', values: [] } },
      rows: times.map((_, at) =>
        Array.from({ length: 300 }, (__, n) => ({
          ...{ key: key(n), min: `{"customer":${n}}` },
          shard: shards[(n * 7 + at) % shards.length]!,
        })),
      ),
      zones: Array.from({ length: 30 }, (_, i) => ({
        ...{ zone: i % 7 === 0 ? long : `EU${i}`, fromKey: key(10 * i), toKey: key(10 * i + 9) },
      })),
    })!,
  ],
}

export const crowdedPage: ReportPage = {
  ...{ shardlabReport: 1, title: 'crowded', text: '' },
  parts: [
    heading(1, long),
    manyTicks,
    instants,
    {
      ...{ kind: 'bars', title: long },
      bars: [long, 'shard02'].map((name, i) => ({ name, value: i + 1, shown: `${long} ${i}`, tone: i })),
    },
    table(long, ['', '#count', '~reason'], [[long, '1,000,000', `${long} ${long}`]]),
  ],
}
