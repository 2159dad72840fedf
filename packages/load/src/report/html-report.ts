/** One page that needs no network. */
import { counted } from '@shardlab/quantities'
import { decodeHistogram } from '../run/histograms.js'
import type { Latency, LoadReport } from '../types.js'
import { barChart } from './bar-chart.js'
import { lineChart, type Series } from './charts.js'
import { escape } from './escape.js'
import { duration, percent, perSecond, shortDuration, whole } from './format.js'
import { style } from './style.js'
import {
  broadcastOf,
  checkLine,
  loopOf,
  markTime,
  notBegunSentence,
  topologyOf,
  transactionLines,
} from './text-report.js'
import { highest } from '../run/pacing.js'

export function htmlReport(report: LoadReport): string {
  const title = `${report.workload.name} on ${report.measured.server}`
  const body = report.sweep === null ? single(report) : sweep(report)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(title)}</title><style>${style}</style><body><main>${body}${measured(report)}</main></body></html>\n`
}

const tones = ['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7']

function single(report: LoadReport): string {
  const { latencyUs, errors } = report
  const classes = latencyUs.byRoutingClass as Readonly<Record<string, Latency>>
  return [
    header(report),
    tiles(report),
    timeline(report),
    '<h2>Latency</h2>',
    latencyTable({ all: latencyUs.all, ...latencyUs.byOperation }),
    percentileChart('By operation', latencyUs.byOperation),
    '<h2>By routing class</h2>',
    `<p>${escape(capital(report.routing.derivedFrom))}${report.routing.placementChanged ? '; chunks have moved since' : ''}.</p>`,
    latencyTable(classes),
    percentileChart('By routing class', classes),
    histogramChart(latencyUs.all),
    errors.total > 0 ? errorTable(report) : '',
    report.transactions === null
      ? ''
      : `<h2>Transactions</h2>${transactionLines(report.transactions)
          .map((line) => `<p>${escape(capital(line))}.</p>`)
          .join('')}`,
    shards(report),
    endCheck(report),
  ].join('')
}

function header(report: LoadReport): string {
  const { workload } = report
  return [
    `<h1>${escape(workload.name)}</h1><p>${escape(capital(loopOf(report)))}. ${counted(workload.records, 'record', whole)} in <code>${escape(workload.ns)}</code>, shard key <code>${escape(workload.shardKey)}</code>, seed ${workload.seed}. ${escape(topologyOf(report))}.</p>`,
    report.interrupted ? '<p class="fail">Interrupted: what follows is of what was done until then.</p>' : '',
    report.notBegun > 0 ? `<p class="fail">${notBegunSentence(report)}.</p>` : '',
  ].join('')
}

function tiles(report: LoadReport): string {
  const { count, errors, intended } = report.latencyUs.all
  const shown = (us: number): string => (count === errors ? '–' : duration(us))
  const check = report.endCheck.ok
  const tile = (name: string, value: string, tone = ''): string =>
    `<div class="tile ${tone}"><b>${value}</b><span>${name}</span></div>`
  return `<div class="tiles">${[
    tile('operations a second', perSecond(report.throughput)),
    tile('p50', shown(intended.p50)),
    tile('p99', shown(intended.p99)),
    tile('max', shown(intended.max)),
    tile('errors', whole(report.errors.total), report.errors.total > 0 ? 'warn' : ''),
    tile(
      'end check',
      check === null ? 'none' : check ? 'passed' : 'failed',
      check === false ? 'fail' : check ? 'pass' : '',
    ),
  ].join('')}</div>`
}

function timeline({ timeline: points, marks }: LoadReport): string {
  if (points.length < 2) return ''
  const secs = points[1]!.atSecs - points[0]!.atSecs
  const common = {
    xLabel: 'seconds since the first measured operation',
    xShown: (value: number) => `${Number(value.toFixed(2))}`,
    marks: marks.map(({ atSecs, untilSecs, text }) => ({
      x: atSecs,
      text,
      ...(untilSecs === null ? {} : { until: untilSecs }),
    })),
  }
  // The last interval may be incomplete.
  const complete = points.length > 2 ? points.slice(0, -1) : points
  const line = (name: string, tone: string, of: (point: (typeof points)[number]) => number): Series => ({
    name,
    tone,
    points: complete.map((point) => [point.atSecs, of(point)]),
  })
  const rate = lineChart(
    [
      line('operations', 's0', ({ operations, errors }) => (operations - errors) / secs),
      ...(points.some(({ errors }) => errors > 0) ? [line('errors', 'bad', ({ errors }) => errors / secs)] : []),
    ],
    { ...common, title: 'Answers a second', yLabel: 'a second', yShown: whole },
  )
  const latency = lineChart(
    [
      line('max', 's3', ({ maxUs }) => maxUs),
      line('p99', 's1', ({ p99Us }) => p99Us),
      line('p50', 's0', ({ p50Us }) => p50Us),
    ].map(
      // Intervals without replies have no latency.
      (series) => ({ ...series, points: series.points.map(([x, y]) => [x, y > 0 ? y : Number.NaN] as const) }),
    ),
    { ...common, title: 'Latency over time', yLabel: 'latency', yScale: 'log', yShown: shortDuration },
  )
  const list = marks.map((mark) => `<li>${escape(markTime(mark))}: ${escape(mark.text)}</li>`).join('')
  return `<h2>Timeline</h2>${rate}${latency}${list === '' ? '' : `<ul>${list}</ul>`}`
}

/** 1 - 1/x is drawn at x: each step to the right adds a nine. */
const ninesTicks = [1, 2, 10, 100, 1000, 10_000]

function percentileChart(title: string, latencies: Readonly<Record<string, Latency>>): string {
  const series = Object.entries(latencies).flatMap(([name, { histogram, count, errors }], i): Series[] => {
    if (count === errors) return []
    const decoded = decodeHistogram(histogram)
    const points: [number, number][] = []
    // Percentiles beyond the number of operations equal the maximum.
    for (let x = 1; x <= Math.min(10_000, Math.max(2, count - errors)); x *= 1.25)
      points.push([x, decoded.getValueAtPercentile((1 - 1 / x) * 100)])
    return [{ name, tone: tones[i % tones.length]!, points }]
  })
  if (series.length === 0) return ''
  const shown = (x: number): string => (x === 1 ? 'min' : `${Number(((1 - 1 / x) * 100).toFixed(2))}%`)
  const longest = Math.max(...series.flatMap(({ points }) => points.map(([x]) => x)))
  return lineChart(series, {
    title: `${title}: percentiles`,
    xLabel: 'percentile',
    yLabel: 'latency',
    xScale: 'log',
    yScale: 'log',
    xTicks: ninesTicks.filter((tick) => tick <= longest * 1.01),
    xShown: shown,
    yShown: shortDuration,
  })
}

/** Buckets grow by a tenth. */
function histogramChart({ histogram, count, errors }: Latency): string {
  if (count === errors) return ''
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
  return lineChart([{ name: 'operations', tone: 's0', points }], {
    title: 'Histogram of all operations, up to p99.9',
    xLabel: 'latency',
    yLabel: 'operations',
    xScale: 'log',
    xShown: shortDuration,
    yShown: whole,
  })
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

function latencyTable(latencies: Readonly<Record<string, Latency>>): string {
  const row = ([name, { count, errors, intended, service }]: [string, Latency]): string =>
    `<tr><th>${escape(name)}</th><td>${whole(count)}</td><td${errors > 0 ? ' class="warn"' : ''}>${whole(errors)}</td>${[intended.mean, intended.p50, intended.p90, intended.p95, intended.p99, intended.p999, intended.p9999, intended.max, service.p50, service.p99].map((us) => `<td>${count === errors ? '–' : duration(us)}</td>`).join('')}</tr>`
  return `<div class="wide"><table><thead><tr><th colspan="3"></th><th class="group" colspan="8">from the intended start</th><th class="group" colspan="2">from the sending</th></tr><tr><th></th><th>count</th><th>errors</th><th>mean</th><th>p50</th><th>p90</th><th>p95</th><th>p99</th><th>p99.9</th><th>p99.99</th><th>max</th><th>p50</th><th>p99</th></tr></thead><tbody>${Object.entries(latencies).map(row).join('')}</tbody></table></div>`
}

function errorTable({ errors, latencyUs }: LoadReport): string {
  const rows = Object.entries(errors.byCode).flatMap(([code, byOperation]) =>
    Object.entries(byOperation).map(
      ([name, count]) => `<tr><th>${escape(code)}</th><td>${escape(name)}</td><td>${whole(count)}</td></tr>`,
    ),
  )
  return `<h2>Errors</h2><p>Failed operations took ${duration(latencyUs.failed!.p50)} at the median, ${duration(latencyUs.failed!.max)} at most; they are in no table above.</p><div class="wide"><table><thead><tr><th>code</th><th>operation</th><th>count</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function shards({ perShard, hottestShard }: LoadReport): string {
  const entries = Object.entries(perShard)
  if (entries.length === 0) return ''
  const bars = entries.map(([name, { share }]) => ({
    name,
    value: share,
    shown: `${percent(share)}${name === hottestShard ? ', hottest' : ''}`,
    tone: name === hottestShard ? 's1' : 's0',
  }))
  const cell = (us: number | undefined): string => `<td>${us === undefined ? '–' : duration(us)}</td>`
  const rows = entries.map(
    ([name, { operations, chunks, latencyUs: alone }]) =>
      `<tr><th>${escape(name)}</th><td>${whole(operations)}</td><td>${whole(chunks)}</td>${[alone?.p50, alone?.p90, alone?.p99, alone?.max].map(cell).join('')}</tr>`,
  )
  return `<h2>Shards</h2>${barChart('Share of the operations; one that asks several shards counts for each', bars)}<div class="wide"><table><thead><tr><th colspan="3"></th><th class="group" colspan="4">of what went to it alone, from the intended start</th></tr><tr><th></th><th>operations</th><th>chunks</th><th>p50</th><th>p90</th><th>p99</th><th>max</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function endCheck(report: LoadReport): string {
  const tone = report.endCheck.ok === false ? 'fail' : ''
  const examples = report.endCheck.examples.map((example) => `<li>${escape(example)}</li>`).join('')
  return `<h2>End check</h2><p class="${tone}">${escape(
    checkLine(report)
      .replace(/^End check: /, '')
      .replace(/^./, (letter) => letter.toUpperCase()),
  )}.</p>${examples === '' ? '' : `<ul>${examples}</ul>`}`
}

function sweep(report: LoadReport): string {
  const { of, steps } = report.sweep!
  const classes = [...new Set(steps.flatMap(({ report: step }) => Object.keys(step.latencyUs.byRoutingClass)))]
  const classOf = (step: LoadReport, name: string): Latency | undefined =>
    (step.latencyUs.byRoutingClass as Readonly<Record<string, Latency>>)[name]
  const common = {
    xLabel: of,
    xScale: 'log' as const,
    xTicks: steps.map(({ value }) => value),
    xShown: String,
    dots: true,
  }
  const seriesOf = (of: (latency: Latency, step: LoadReport) => number): Series[] =>
    classes.map((name, i) => ({
      name,
      tone: tones[i % tones.length]!,
      points: steps.flatMap(({ value, report: step }) =>
        classOf(step, name) === undefined ? [] : [[value, of(classOf(step, name)!, step)] as const],
      ),
    }))
  const latency = (percentile: 'p50' | 'p99'): string =>
    lineChart(
      seriesOf(({ intended }) => intended[percentile]),
      { ...common, title: `Latency, ${percentile}`, yLabel: 'latency', yScale: 'log', yShown: shortDuration },
    )
  const rows = steps.map(
    ({ value, report: step }) =>
      `<tr><th>${value}</th><td>${perSecond(step.throughput)}</td><td>${whole(step.errors.total)}</td>${classes.map((name) => `<td>${classOf(step, name) === undefined ? '–' : `${duration(classOf(step, name)!.intended.p50)} / ${duration(classOf(step, name)!.intended.p99)}`}</td>`).join('')}<td>${shownRatio(broadcastOf(step))}</td><td class="${step.endCheck.ok === false ? 'fail' : ''}">${step.endCheck.ok === null ? 'none' : step.endCheck.ok ? 'passed' : 'failed'}</td></tr>`,
  )
  const rateOf = ({ service }: Latency, { workload: { concurrency } }: LoadReport): number =>
    service.mean === 0 ? Number.NaN : (highest(concurrency) * 1e6) / service.mean
  return [
    `<h1>${escape(report.workload.name)}, swept over ${of}</h1><p>${escape(capital(loopOf(report)))}. Shard key <code>${escape(report.workload.shardKey)}</code>.</p>`,
    report.interrupted
      ? `<p class="fail">Interrupted at ${of}=${steps.at(-1)!.value}: the steps that follow are missing.</p>`
      : '',
    ...steps.flatMap(({ value, report: step }) =>
      step.notBegun === 0 ? [] : [`<p class="fail">${of}=${value}: ${notBegunSentence(step)}.</p>`],
    ),
    lineChart(
      [
        { name: 'all', tone: 's7', points: steps.map(({ value, report: step }) => [value, step.throughput] as const) },
        ...(report.workload.loop === 'closed' ? seriesOf(rateOf) : []),
      ],
      {
        ...common,
        title: `Operations a second${report.workload.loop === 'closed' ? '; by class: had all been of that class, at its mean latency' : ''}`,
        ...{ yLabel: 'a second', yScale: 'log', yShown: whole },
      },
    ),
    latency('p50'),
    latency('p99'),
    // Load of the machine affects both lines alike.
    lineChart(
      [
        {
          name: 'broadcast',
          tone: 's1',
          points: steps.flatMap(({ value, report: step }) => {
            const ratio = broadcastOf(step)
            return ratio === null ? [] : [[value, ratio] as const]
          }),
        },
      ],
      {
        ...common,
        title: 'A broadcast in terms of targeted operations, p50',
        yLabel: 'times',
        yShown: (value) => `${Number(value.toFixed(2))} ×`,
      },
    ),
    `<div class="wide"><table><thead><tr><th>${of}</th><th>a second</th><th>errors</th>${classes.map((name) => `<th>${escape(name)} p50 / p99</th>`).join('')}<th>broadcast / targeted</th><th>end check</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`,
  ].join('')
}

function measured({ measured: what }: LoadReport): string {
  const { client } = what
  return `<footer><h2>What was measured</h2><p>${escape(capital(what.server))}, through <code>${escape(what.uri)}</code>, run <code>${escape(what.id)}</code> at ${escape(what.startedAt)}. The client ran on ${client.cores} × ${escape(client.cpu)}, ${Math.round(client.memoryBytes / 2 ** 30)} GiB, ${escape(client.platform)}, Node.js ${escape(client.node)}, with the engine ${what.engine} ${what.threads === 0 ? 'in its main thread' : `on ${counted(what.threads, 'thread')}`}.</p>${what.notLearned.length === 0 ? '' : `<p>What the server did not tell:</p><ul>${what.notLearned.map((sentence) => `<li>${escape(sentence)}</li>`).join('')}</ul>`}<p>${escape(what.caveat)}</p></footer>`
}

const shownRatio = (ratio: number | null): string => (ratio === null ? '–' : `${ratio.toFixed(2)} ×`)
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
