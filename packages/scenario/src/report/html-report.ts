/** One self-contained page that needs no network. */
import { escape, lineChart, style, type ChartOptions, type Series } from '@shardlab/load'
import type { ScenarioFile } from '../file/parse.js'
import type { Decision, Sample, ShardSample, VariantRun } from '../types.js'
import { operationShare } from '../run/operation-share.js'
import { wallTimeMs } from '../run/wall-time.js'
import { imbalanceAt } from '../run/imbalance.js'
import { chunkMap } from './chunk-map.js'
import { bytesText, clockText, percent, ratio, short, timeText, unitOf, whole } from './format.js'
import { operationsHtml } from './operations-table.js'
import { rowsOf } from './rows.js'
import { slider, sliderScript, sliderStyle } from './slider.js'
import { shownRows } from './result-rows.js'
import { interruptions, obstacles, shardName } from './text-report.js'
import { tonesStyle, toneOf } from './tones.js'
import { wordList } from './words.js'

/** With more shards each plot shows the largest, the smallest and the mean. */
const linesMax = 16
const decisionsMax = 500
/** Longer tables are collapsed. */
const openMax = 40
const marksMax = 40
/** Points in plots of rates. */
const ratesMax = 50

const ownStyle = `.fails{color:var(--bad);margin:14px 0}.fails li{color:var(--bad)}.compare td{text-align:left}.compare th{white-space:normal;min-width:110px;max-width:240px;vertical-align:bottom}.compare td:first-child{white-space:normal;min-width:130px}h2,th,.legend span{overflow-wrap:anywhere}.compare td:first-child{color:var(--soft)}.compare td.part{padding-left:24px}.about{max-width:75ch}.words td.left{white-space:nowrap;vertical-align:top}.compare pre{margin:0}td.why{white-space:normal;overflow-wrap:anywhere;text-align:left}td.left{text-align:left}details{margin:14px 0}summary{cursor:pointer;color:var(--soft)}@media(max-width:700px){figure{overflow-x:auto}svg{min-width:640px}}`

export function htmlReport(file: ScenarioFile, runs: readonly VariantRun[]): string {
  const name = file.path
    .split(/[\\/]/)
    .at(-1)!
    .replace(/\.ya?ml$/, '')
  const body = [
    `<h1>${escape(name)}</h1>`,
    file.shows === null ? '' : `<p>${escape(file.shows)}</p>`,
    file.about === null ? '' : `<p class="about">${escape(file.about)}</p>`,
    failures(file, runs),
    comparison(runs),
    operationsHtml(runs.map(({ result }) => result)),
    expectations(file),
    wordList(),
    runs.length > 1 ? sideBySide(runs) : '',
    ...runs.map((run) => variant(run, runs.length > 1)),
    `<footer><p>Seed ${file.seed}; simulated in ${(wallTimeMs(runs) / 1000).toFixed(1)} s of real time. The same file and seed always give the same result.</p></footer>`,
  ].join('')
  const toneCount = Math.max(runs.length, ...runs.map(({ samples }) => shardsOf(samples).length))
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(name)}</title><style>${style}${ownStyle}${sliderStyle}${tonesStyle(toneCount)}</style><body><main>${body}</main><script>${sliderScript}</script></body></html>\n`
}

function failures(file: ScenarioFile, runs: readonly VariantRun[]): string {
  const failed = runs.flatMap(({ result: { name, failedExpectations, failedSteps } }) => [
    ...failedExpectations.map(({ message }) => `${name}: ${message}`),
    ...failedSteps.map(({ atMs, step, error }) => `${name}: at ${timeText(atMs)} ${step} failed: ${error}`),
  ])
  const sentences = [...interruptions(file, runs), ...failed, ...obstacles(runs.map(({ result }) => result))]
  return sentences.length === 0
    ? ''
    : `<ul class="fails">${sentences.map((sentence) => `<li>${escape(sentence)}</li>`).join('')}</ul>`
}

/** Failed expectations are listed above this table. */
function expectations({ variants }: ScenarioFile): string {
  const expected = variants.filter(({ expect }) => expect.length > 0)
  if (expected.length === 0) return ''
  const rows = expected.map(
    ({ name, expect }) =>
      `<tr><td class="left">${escape(name)}</td><td class="why">${expect.map(escape).join('<br>')}</td></tr>`,
  )
  return `<details><summary>Expectations of the file</summary><div class="wide"><table><tbody>${rows.join('')}</tbody></table></div></details>`
}

function comparison(runs: readonly VariantRun[]): string {
  const head =
    runs.length > 1
      ? `<thead><tr><th></th>${runs.map(({ result }) => `<th style="text-align:left">${escape(result.name)}</th>`).join('')}</tr></thead>`
      : ''
  const rows = shownRows(runs.map(({ result }) => result)).map(
    ([name, of]) =>
      `<tr><td${name.startsWith(' ') ? ' class="part"' : ''}>${escape(name.trim())}</td>${runs.map(({ result }) => `<td>${escape(of(result))}</td>`).join('')}</tr>`,
  )
  return `<div class="wide"><table class="compare">${head}<tbody>${rows.join('')}</tbody></table></div>`
}

const overTime = { xLabel: 'time since the start', xShown: (ms: number) => timeText(ms) }

function sideBySide(runs: readonly VariantRun[]): string {
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
    xTicks: ticksOf(
      runs
        .map(({ samples }) => samples)
        .reduce((longest, each) => (each.at(-1)!.atMs > longest.at(-1)!.atMs ? each : longest)),
    ),
  })
}

function variant({ result, samples, decisions }: VariantRun, isOneOfMany: boolean): string {
  const shards = shardsOf(samples)
  const tones = new Map(shards.map((shard, i) => [shard, toneOf(i)]))
  const toneOfShard = (shard: string): string => tones.get(shard) ?? ''
  const rows = rowsOf(samples)
  const common = {
    ...overTime,
    marks: marksOf(decisions),
    xDomain: [0, samples.at(-1)!.atMs] as const,
    xTicks: ticksOf(samples),
    yShown: short,
  }
  const largest = samples.reduce(
    (most, sample) => Object.values(sample.shards).reduce((more, { bytes }) => Math.max(more, bytes), most),
    0,
  )
  const unit = unitOf(largest)
  const plot = (
    of: (shard: ShardSample) => number,
    title: string,
    yLabel: string,
    more: Partial<ChartOptions> = {},
  ): string =>
    lineChart(shardSeries(samples, { shards, toneOf: toneOfShard, of }), { ...common, ...more, title, yLabel })
  const rates = ratesOf(samples)
  const operations = shardSeries(rates, { shards, toneOf: toneOfShard, of: (shard) => shard.operations })
  const ending = (name: 'succeeded' | 'failed', tone: string): Series => ({
    name,
    tone,
    points: rates.map((rate) => [rate.atMs, rate[name]]),
  })
  const isBusy = result.operations.total > 0
  return [
    `<section class="run">${isOneOfMany ? `<h2>${escape(result.name)}</h2>` : ''}`,
    slider(rows, shards, [...tones.values()]),
    largest === 0 ? '' : plot(({ bytes }) => bytes / unit.bytes, 'Bytes owned by each shard', unit.name),
    plot(({ chunks }) => chunks, 'Chunks', 'chunks', { yWhole: true }),
    isBusy ? lineChart(operations, { ...common, title: 'Operations sent to each shard', yLabel: 'per second' }) : '',
    isBusy && result.operations.failed > 0
      ? lineChart([ending('succeeded', 's0'), ending('failed', 'bad')], {
          ...common,
          title: 'Completed operations',
          yLabel: 'per second',
        })
      : '',
    ...Object.keys(samples.at(-1)!.chunks).map((ns) => chunkMap(ns, rows, toneOfShard)),
    shardTable(result.shards),
    decisionTable(decisions),
    '</section>',
  ].join('')
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
  const text = /^command \{"(\w+)":[^;]*?\}( failed: .*)?$/.exec(step)?.slice(1).join('') ?? step
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}

function shardsOf(samples: readonly Sample[]): string[] {
  return [...new Set(samples.flatMap((sample) => Object.keys(sample.shards)))].sort()
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

function shardTable(shards: VariantRun['result']['shards']): string {
  const rows = Object.entries(shards).map(([id, shard]) => {
    const { bytes, peak, chunks, operations, sentBytes, receivedBytes } = shard
    const cells = [
      bytesText(bytes),
      bytesText(peak.bytes),
      bytesText(peak.diskBytes),
      whole(peak.orphans),
      `${bytesText(sentBytes)} / ${bytesText(receivedBytes)}`,
      whole(chunks),
      whole(operations),
      percent(operationShare(shards, id)),
    ]
    return `<tr><td class="left">${escape(shardName(id, shard))}</td>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
  })
  const heads = ['bytes', 'bytes at most', 'disk at most', 'orphans at most', 'sent / received', 'chunks', 'operations']
  const shown = `<div class="wide"><table><thead><tr><th>shard, at the end</th>${heads.map((head) => `<th>${head}</th>`).join('')}<th>share of operations</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
  return rows.length <= openMax
    ? shown
    : `<details><summary>${whole(rows.length)} shards at the end</summary>${shown}</details>`
}

function decisionTable(decisions: readonly Decision[]): string {
  if (decisions.length === 0) return '<p>The balancer made no decisions.</p>'
  const rows = decisions
    .slice(0, decisionsMax)
    .map(
      ({ atMs, kind, text }) =>
        `<tr><td class="left">${clockText(atMs)}</td><td class="left">${kind}</td><td class="why">${escape(text)}</td></tr>`,
    )
  const more =
    decisions.length > decisionsMax
      ? `<p>${whole(decisions.length - decisionsMax)} more are not shown; shardlab simulate --explain prints all.</p>`
      : ''
  return `<details${decisions.length <= openMax ? ' open' : ''}><summary>${whole(decisions.length)} decisions with reasons</summary><div class="wide"><table><tbody>${rows.join('')}</tbody></table></div>${more}</details>`
}
