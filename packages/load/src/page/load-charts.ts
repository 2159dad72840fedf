/** The charts of one measurement. */
import { heading, lineChart, list, type LineChart, type ReportPart, type Series } from '@shardlab/report'
import { markTime } from '../report/text-report.js'
import { decodeHistogram } from '../run/histograms.js'
import type { Latency, LoadReport, TimelinePoint } from '../types.js'

const presentOf = (chart: LineChart | undefined): LineChart[] => (chart === undefined ? [] : [chart])

export function timelineParts({ timeline: points, marks }: LoadReport): ReportPart[] {
  if (points.length < 2) return []
  const secs = points[1]!.atSecs - points[0]!.atSecs
  // The last interval may be incomplete.
  const complete = points.length > 2 ? points.slice(0, -1) : points
  const line = (name: string, tone: Series['tone'], of: (point: TimelinePoint) => number | null): Series => ({
    ...{ name, tone },
    points: complete.map((point) => [point.atSecs, of(point)]),
  })
  // Intervals without replies have no latency.
  const latency = (us: number): number | null => (us > 0 ? us : null)
  const common = {
    x: { label: 'seconds since the first measured operation', format: 'number' },
    marks: marks.map(({ atSecs, untilSecs, text }) => ({
      ...{ at: atSecs, text },
      ...(untilSecs === null ? {} : { until: untilSecs }),
    })),
  } as const
  return [
    heading(2, 'Timeline'),
    ...presentOf(
      lineChart({
        ...{ ...common, title: 'Throughput', y: { label: 'answers a second', format: 'integer' } },
        series: [
          line('operations', 0, ({ operations, errors }) => (operations - errors) / secs),
          ...(points.some(({ errors }) => errors > 0) ? [line('errors', 'bad', ({ errors }) => errors / secs)] : []),
        ],
      }),
    ),
    ...presentOf(
      lineChart({
        ...{ ...common, title: 'Latency over time', y: { label: 'latency', format: 'microseconds', scale: 'log' } },
        series: [
          line('max', 3, ({ maxUs }) => latency(maxUs)),
          line('p99', 5, ({ p99Us }) => latency(p99Us)),
          line('p50', 0, ({ p50Us }) => latency(p50Us)),
        ],
      }),
    ),
    ...(marks.length === 0 ? [] : [list(marks.map((mark) => `${markTime(mark)}: ${mark.text}`))]),
  ]
}

/** 1 - 1/x is drawn at x: each step to the right adds a nine. */
const ninesTicks = [1, 2, 10, 100, 1000, 10_000]

export function percentileChart(title: string, latencies: Readonly<Record<string, Latency>>): LineChart[] {
  const series = Object.entries(latencies).flatMap(([name, { histogram, count, errors }], tone): Series[] => {
    if (count === errors) return []
    const decoded = decodeHistogram(histogram)
    const points: [number, number][] = []
    // Percentiles beyond the number of operations equal the maximum.
    for (let x = 1; x <= Math.min(10_000, Math.max(2, count - errors)); x *= 1.25)
      points.push([x, decoded.getValueAtPercentile((1 - 1 / x) * 100)])
    return [{ name, tone, points }]
  })
  const longest = Math.max(...series.flatMap(({ points }) => points.map(([x]) => x)))
  const ticks = ninesTicks.filter((tick) => tick <= longest * 1.01)
  return presentOf(
    lineChart({
      ...{ title: `${title}: percentiles`, series },
      x: { label: 'percentile', format: 'nines', scale: 'log', ticks },
      y: { label: 'latency', format: 'microseconds', scale: 'log' },
    }),
  )
}

/** Buckets grow by a tenth. */
export function histogramChart({ histogram, count, errors }: Latency): LineChart[] {
  if (count === errors) return []
  const decoded = decodeHistogram(histogram)
  const total = decoded.totalCount
  const points: [number, number][] = []
  const end = decoded.getValueAtPercentile(99.9) * 1.1
  let below = 0
  for (let from = Math.max(1, decoded.minNonZeroValue * 0.9); from < end; from *= 1.1) {
    const upTo = shareBelow(decoded, from * 1.1)
    points.push([from, Math.max(0, upTo - below) * total])
    below = upTo
  }
  return presentOf(
    lineChart({
      title: 'Histogram of all operations, up to p99.9',
      x: { label: 'latency', format: 'microseconds', scale: 'log' },
      y: { label: 'operations', format: 'integer' },
      series: [{ name: 'operations', tone: 0, points }],
    }),
  )
}

function shareBelow(histogram: ReturnType<typeof decodeHistogram>, value: number): number {
  let low = 0
  let high = 100
  for (let i = 0; i < 24; i++) {
    const middle = (low + high) / 2
    if (histogram.getValueAtPercentile(middle) <= value) low = middle
    else high = middle
  }
  return low / 100
}
