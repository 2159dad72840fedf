/** The charts of a run. */
import { lineChart, type LineChart, type Mark, type Series } from '@shardlab/report'
import { byName, unitOf } from '../report/format.js'
import { imbalanceAt } from '../run/imbalance.js'
import type { Decision, Sample, ShardSample, VariantRun } from '../types.js'

/** With more shards each chart shows the largest, the smallest and the mean. */
const linesMax = 16
const marksMax = 40
/** Points in charts of rates. */
const ratesMax = 50
const hourSeconds = 3600

const time = { label: 'time since the start', format: 'milliseconds' } as const
const ratio = { label: 'ratio', format: 'ratio', from: 1 } as const

export function sideBySide(runs: readonly VariantRun[]): LineChart[] {
  const chart = lineChart({
    title: 'Bytes: largest shard / mean',
    x: time,
    y: ratio,
    series: runs.map(({ result, samples }, tone) => ({
      ...{ name: result.name, tone },
      points: samples.map((sample) => [sample.atMs, imbalanceAt(sample, ({ bytes }) => bytes).maxToMean]),
    })),
  })
  return chart === undefined ? [] : [chart]
}

export function chartsOf({ result, samples, decisions, periods }: VariantRun, shards: readonly string[]): LineChart[] {
  const endMs = samples.at(-1)!.atMs
  const isAlwaysOn = periods.length === 1 && periods[0]!.fromMs === 0 && periods[0]!.toMs >= endMs
  const common = {
    x: { ...time, from: 0, to: endMs },
    marks: marksOf(decisions),
    bands: isAlwaysOn
      ? null
      : { name: 'the balancer may work', ranges: periods.map(({ fromMs, toMs }) => [fromMs, toMs] as const) },
  }
  const of = (title: string, y: LineChart['y'], series: readonly Series[]): LineChart | undefined =>
    lineChart({ ...common, title, y, series })
  const seriesOf = (each: readonly Sample[], value: (shard: ShardSample) => number): Series[] =>
    shardSeries(each, shards, value)
  const sized = (title: string, value: (shard: ShardSample) => number): LineChart | undefined => {
    const unit = unitOf(largestOf(samples, value))
    const series = seriesOf(samples, (shard) => value(shard) / unit.bytes)
    return of(title, { label: unit.name, format: 'number' }, series)
  }
  const rates = ratesOf(samples)
  const line = (name: string, tone: Series['tone'], value: (rate: Sample) => number): Series => ({
    ...{ name, tone },
    points: rates.map((rate) => [rate.atMs, value(rate)]),
  })
  const isBusy = result.operations.total > 0
  const hasData = largestOf(samples, ({ bytes }) => bytes) > 0
  const moved = unitOf(rates.reduce((most, { bytesMoved }) => Math.max(most, bytesMoved * hourSeconds), 0))
  const perSecond = { label: 'per second', format: 'number' } as const
  const charts = [
    hasData && sized('Bytes owned by each shard', ({ bytes }) => bytes),
    result.orphans.worst > 0 && sized('Disk of each shard: documents and orphans', ({ diskBytes }) => diskBytes),
    hasData && of('Bytes: largest shard / mean', ratio, imbalanceSeries(samples)),
    result.bytesMoved > 0 &&
      of('Moved by migrations', { label: `${moved.name} per hour`, format: 'number' }, [
        line('moved', 2, ({ bytesMoved }) => (bytesMoved * hourSeconds) / moved.bytes),
      ]),
    of(
      'Chunks',
      { label: 'chunks', format: 'integer' },
      seriesOf(samples, ({ chunks }) => chunks),
    ),
    isBusy &&
      of(
        'Operations sent to each shard',
        perSecond,
        seriesOf(rates, ({ operations }) => operations),
      ),
    isBusy &&
      result.operations.failed > 0 &&
      of('Completed operations', perSecond, [
        line('succeeded', 0, ({ succeeded }) => succeeded),
        line('failed', 'bad', ({ failed }) => failed),
      ]),
    (result.replication?.worstLagMs ?? 0) > 0 &&
      of('Lag of the member that is furthest behind its primary', { label: 'seconds', format: 'number' }, [
        { name: 'lag', tone: 3, points: samples.map(({ atMs, lagMs }) => [atMs, lagMs / 1000]) },
      ]),
  ]
  return charts.filter((chart) => typeof chart === 'object')
}

/** All shards, and those of each zone. */
function imbalanceSeries(samples: readonly Sample[]): Series[] {
  const zones = [...new Set(samples.flatMap(({ shards }) => Object.values(shards).flatMap((each) => each.zones)))]
  const ratioAt = (sample: Sample, zone?: string): number => imbalanceAt(sample, ({ bytes }) => bytes, zone).maxToMean
  return [
    { name: 'all shards', tone: 7, points: samples.map((sample) => [sample.atMs, ratioAt(sample)]) },
    ...zones.toSorted().map((zone, i): Series => ({
      name: `zone ${zone}`,
      tone: i,
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
function marksOf(decisions: readonly Decision[]): Mark[] {
  const marks: { -readonly [Field in keyof Mark]: Mark[Field] }[] = []
  const lasting = new Map<string, typeof marks>()
  for (const { kind, atMs, text } of decisions) {
    const [, ended] = (kind === 'fault' && /^ended: (.*)$/s.exec(text)) || []
    const begun = ended === undefined ? undefined : lasting.get(ended)?.shift()
    if (begun !== undefined) begun.until = atMs
    else if (kind === 'fault' || (kind === 'timeline' && !/^(replied|failed) as expected/.test(text))) {
      const mark = { at: atMs, text: markText(text) }
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

function shardSeries(
  samples: readonly Sample[],
  shards: readonly string[],
  of: (shard: ShardSample) => number,
): Series[] {
  if (shards.length <= linesMax)
    return shards.map((shard, tone) => ({
      ...{ name: shard, tone },
      points: samples.flatMap((sample): (readonly [number, number])[] => {
        const own = sample.shards[shard]
        return own === undefined ? [] : [[sample.atMs, of(own)]]
      }),
    }))
  const line = (name: string, tone: number, pick: (values: readonly number[]) => number): Series => ({
    ...{ name, tone },
    points: samples.map((sample) => [sample.atMs, pick(Object.values(sample.shards).map(of))]),
  })
  return [
    line('largest', 5, (values) => Math.max(...values)),
    line('mean', 0, (values) => values.reduce((sum, value) => sum + value, 0) / values.length),
    line('smallest', 2, (values) => Math.min(...values)),
  ]
}
