/** The plots of a page. */
import { lineChart, type ChartOptions, type Series } from '@shardlab/load'
import type { Decision, Sample, ShardSample, VariantRun } from '../types.js'
import { imbalanceAt } from '../run/imbalance.js'
import { byName, ratio, short, timeText, unitOf } from './format.js'
import { toneOf } from './tones.js'

/** With more shards each plot shows the largest, the smallest and the mean. */
const linesMax = 16
const marksMax = 40
/** Points in plots of rates. */
const ratesMax = 50
const hourSeconds = 3600

const overTime = { xLabel: 'time since the start', xShown: (ms: number) => timeText(ms) }

export function sideBySide(runs: readonly VariantRun[]): string {
  const series = runs.map(({ result, samples }, i): Series => ({
    name: result.name,
    tone: toneOf(i),
    points: samples.map((sample) => [sample.atMs, imbalanceAt(sample, ({ bytes }) => bytes).maxToMean]),
  }))
  return lineChart(series, {
    ...overTime,
    title: 'Bytes: largest shard / mean',
    yLabel: 'ratio',
    yShown: ratio,
    yFrom: 1,
    xTicks: ticksOf(
      runs
        .map(({ samples }) => samples)
        .reduce((longest, each) => (each.at(-1)!.atMs > longest.at(-1)!.atMs ? each : longest)),
    ),
  })
}

/** @param toneOfShard colour class of a shard */
export function plotsOf(
  { result, samples, decisions, periods }: VariantRun,
  shards: readonly string[],
  toneOfShard: (shard: string) => string,
): string[] {
  const endMs = samples.at(-1)!.atMs
  const isAlwaysOn = periods.length === 1 && periods[0]!.fromMs === 0 && periods[0]!.toMs >= endMs
  const common = {
    ...overTime,
    marks: marksOf(decisions),
    xDomain: [0, endMs] as const,
    xTicks: ticksOf(samples),
    yShown: short,
    bands: {
      name: 'the balancer may work',
      ranges: isAlwaysOn ? [] : periods.map(({ fromMs, toMs }) => [fromMs, toMs] as const),
    },
  }
  const of = (series: readonly Series[], title: string, yLabel: string, more: Partial<ChartOptions> = {}): string =>
    lineChart(series, { ...common, ...more, title, yLabel })
  const seriesOf = (each: readonly Sample[], value: (shard: ShardSample) => number): Series[] =>
    shardSeries(each, { shards, toneOf: toneOfShard, of: value })
  const sized = (title: string, value: (shard: ShardSample) => number): string => {
    const unit = unitOf(largestOf(samples, value))
    return of(
      seriesOf(samples, (shard) => value(shard) / unit.bytes),
      title,
      unit.name,
    )
  }
  const rates = ratesOf(samples)
  const line = (name: string, tone: string, value: (rate: Sample) => number): Series => ({
    name,
    tone,
    points: rates.map((rate) => [rate.atMs, value(rate)]),
  })
  const isBusy = result.operations.total > 0
  const hasData = largestOf(samples, ({ bytes }) => bytes) > 0
  const hasOrphans = result.orphans.worst > 0
  const moved = unitOf(rates.reduce((most, { bytesMoved }) => Math.max(most, bytesMoved * hourSeconds), 0))
  return [
    hasData ? sized('Bytes owned by each shard', ({ bytes }) => bytes) : '',
    hasOrphans ? sized('Disk of each shard: documents and orphans', ({ diskBytes }) => diskBytes) : '',
    hasData ? of(imbalanceSeries(samples), 'Bytes: largest shard / mean', 'ratio', { yShown: ratio, yFrom: 1 }) : '',
    result.bytesMoved > 0
      ? of(
          [line('moved', 's2', ({ bytesMoved }) => (bytesMoved * hourSeconds) / moved.bytes)],
          'Moved by migrations',
          `${moved.name} per hour`,
        )
      : '',
    of(
      seriesOf(samples, ({ chunks }) => chunks),
      'Chunks',
      'chunks',
      { yWhole: true },
    ),
    isBusy
      ? of(
          seriesOf(rates, ({ operations }) => operations),
          'Operations sent to each shard',
          'per second',
        )
      : '',
    isBusy && result.operations.failed > 0
      ? of(
          [line('succeeded', 's0', ({ succeeded }) => succeeded), line('failed', 'bad', ({ failed }) => failed)],
          'Completed operations',
          'per second',
        )
      : '',
    (result.replication?.worstLagMs ?? 0) > 0
      ? of(
          [{ name: 'lag', tone: 's3', points: samples.map(({ atMs, lagMs }) => [atMs, lagMs / 1000]) }],
          'Lag of the member that is furthest behind its primary',
          'seconds',
        )
      : '',
  ]
}

/** All shards, and those of each zone. */
function imbalanceSeries(samples: readonly Sample[]): Series[] {
  const zones = [...new Set(samples.flatMap(({ shards }) => Object.values(shards).flatMap((each) => each.zones)))]
  const ratioAt = (sample: Sample, zone?: string): number => imbalanceAt(sample, ({ bytes }) => bytes, zone).maxToMean
  return [
    { name: 'all shards', tone: 's5', points: samples.map((sample) => [sample.atMs, ratioAt(sample)]) },
    ...zones.toSorted().map((zone, i): Series => ({
      name: `zone ${zone}`,
      tone: toneOf(i),
      points: samples.map((sample) => [sample.atMs, ratioAt(sample, zone)]),
    })),
  ]
}

function largestOf(samples: readonly Sample[], of: (shard: ShardSample) => number): number {
  return samples.reduce(
    (most, { shards }) => Object.values(shards).reduce((more, shard) => Math.max(more, of(shard)), most),
    0,
  )
}

/** A line for each event, a band for a fault that lasts. */
function marksOf(decisions: readonly Decision[]): NonNullable<ChartOptions['marks']> {
  const marks: { x: number; until?: number; text: string }[] = []
  const lasting = new Map<string, (typeof marks)[number][]>()
  for (const { kind, atMs, text } of decisions) {
    const [, ended] = (kind === 'fault' && /^ended: (.*)$/s.exec(text)) || []
    const begun = ended === undefined ? undefined : lasting.get(ended)?.shift()
    if (begun !== undefined) begun.until = atMs
    else if (kind === 'fault' || (kind === 'timeline' && !/^(replied|failed) as expected/.test(text))) {
      const mark = { x: atMs, text: markText(text) }
      marks.push(mark)
      if (kind === 'fault') lasting.set(text, [...(lasting.get(text) ?? []), mark])
    }
  }
  return marks.slice(0, marksMax)
}

/** For a command, its name. */
function markText(step: string): string {
  const zone = /^updateZoneKeyRange ns (\S+) .* zone (.+)$/.exec(step)
  if (zone !== null) return `zone ${zone[2]} of ${zone[1]}`
  const text = /^command \{"(\w+)":[^;]*?\}( failed: .*)?$/.exec(step)?.slice(1).join('') ?? step
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}

export function shardsOf(samples: readonly Sample[]): string[] {
  return [...new Set(samples.flatMap((sample) => Object.keys(sample.shards)))].sort(byName)
}

/** Combines neighbouring samples, because single ones are mostly noise. */
function ratesOf(samples: readonly Sample[]): Sample[] {
  const every = Math.max(1, Math.floor(samples.length / ratesMax))
  const rates: Sample[] = []
  for (let from = 0; from + every < samples.length; from += every) {
    const part = samples.slice(from + 1, from + every + 1)
    const last = part.at(-1)!
    const seconds = (last.atMs - samples[from]!.atMs) / 1000
    const rate = (of: (sample: Sample) => number): number => part.reduce((sum, sample) => sum + of(sample), 0) / seconds
    const shards = Object.entries(last.shards).map(
      ([id, shard]) => [id, { ...shard, operations: rate((sample) => sample.shards[id]?.operations ?? 0) }] as const,
    )
    rates.push({
      ...last,
      shards: Object.fromEntries(shards),
      succeeded: rate(({ succeeded }) => succeeded),
      failed: rate(({ failed }) => failed),
      bytesMoved: rate(({ bytesMoved }) => bytesMoved),
    })
  }
  return rates
}

interface ShardPlot {
  readonly shards: readonly string[]
  readonly toneOf: (shard: string) => string
  readonly of: (shard: ShardSample) => number
}

function shardSeries(samples: readonly Sample[], { shards, toneOf, of }: ShardPlot): Series[] {
  if (shards.length <= linesMax)
    return shards.map((shard) => ({
      name: shard,
      tone: toneOf(shard),
      points: samples.flatMap((sample): (readonly [number, number])[] => {
        const own = sample.shards[shard]
        return own === undefined ? [] : [[sample.atMs, of(own)]]
      }),
    }))
  const line = (name: string, tone: string, pick: (values: readonly number[]) => number): Series => ({
    name,
    tone,
    points: samples.map((sample) => [sample.atMs, pick(Object.values(sample.shards).map(of))]),
  })
  return [
    line('largest', 's1', (values) => Math.max(...values)),
    line('mean', 's0', (values) => values.reduce((sum, value) => sum + value, 0) / values.length),
    line('smallest', 's2', (values) => Math.min(...values)),
  ]
}

/** About eight round times. */
function ticksOf(samples: readonly Sample[]): number[] {
  const end = samples.at(-1)!.atMs
  const steps = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400, 172_800, 432_000,
    864_000,
  ]
  const step = 1000 * (steps.find((secs) => end / (secs * 1000) <= 8) ?? steps.at(-1)!)
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step)
}
