/** What the page of a sweep shows. */
import {
  cell,
  heading,
  lineChart,
  paragraph,
  table,
  type LineChart,
  type ReportPart,
  type Series,
} from '@shardlab/report'
import { duration, perSecond, whole } from '../report/format.js'
import { broadcastOf, loopOf, lostSentences, notBegunSentence } from '../report/text-report.js'
import { highest } from '../run/pacing.js'
import type { Latency, LoadReport } from '../types.js'
import { nothing, sentence } from './texts.js'

export function sweepParts(report: LoadReport): ReportPart[] {
  const { of, steps } = report.sweep!
  const { workload, interrupted } = report
  const last = steps.at(-1)!
  return [
    heading(1, `${workload.name}, swept over ${of}`),
    paragraph([`${sentence(loopOf(report))} Shard key `, { code: workload.shardKey }, '.']),
    ...(interrupted
      ? [paragraph(`Interrupted at ${of}=${last.value}: the steps that follow are missing.`, 'bad')]
      : []),
    ...steps.flatMap(({ value, report: step }) =>
      step.notBegun === 0 ? [] : [paragraph(`${of}=${value}: ${notBegunSentence(step)}.`, 'bad')],
    ),
    ...steps.flatMap(({ value, report: step }) =>
      lostSentences(step).map((each) => paragraph(`${of}=${value}: ${each}.`, 'bad')),
    ),
    ...sweepCharts(report),
    stepTable(report),
  ]
}

const classesOf = ({ sweep }: LoadReport): string[] => [
  ...new Set(sweep!.steps.flatMap(({ report }) => Object.keys(report.latencyUs.byRoutingClass))),
]

const classOf = ({ latencyUs }: LoadReport, name: string): Latency | undefined =>
  (latencyUs.byRoutingClass as Readonly<Record<string, Latency>>)[name]

function sweepCharts(report: LoadReport): LineChart[] {
  const { of, steps } = report.sweep!
  const isClosed = report.workload.loop === 'closed'
  const byClass = (value: (latency: Latency, step: LoadReport) => number | null): Series[] =>
    classesOf(report).map((name, tone) => ({
      ...{ name, tone },
      points: steps.flatMap(({ value: x, report: step }) => {
        const latency = classOf(step, name)
        return latency === undefined ? [] : [[x, value(latency, step)] as const]
      }),
    }))
  const rateOf = ({ service }: Latency, { workload: { concurrency } }: LoadReport): number | null =>
    service.mean === 0 ? null : (highest(concurrency) * 1e6) / service.mean
  const all: Series = { name: 'all', tone: 7, points: steps.map(({ value, report: step }) => [value, step.throughput]) }
  const ratios = steps.map(({ value, report: step }) => [value, broadcastOf(step)] as const)
  const common = {
    x: { label: of, format: 'number', scale: 'log', ticks: steps.map(({ value }) => value) },
    hasDots: true,
  } as const
  const latency = (percentile: 'p50' | 'p99'): LineChart | undefined =>
    lineChart({
      ...{ ...common, title: `Latency, ${percentile}` },
      y: { label: 'latency', format: 'microseconds', scale: 'log' },
      series: byClass(({ intended }) => intended[percentile]),
    })
  return [
    lineChart({
      ...common,
      title: `Operations a second${isClosed ? '; by class: had all been of that class, at its mean latency' : ''}`,
      y: { label: 'a second', format: 'integer', scale: 'log' },
      series: [all, ...(isClosed ? byClass(rateOf) : [])],
    }),
    latency('p50'),
    latency('p99'),
    // Load of the machine affects both latencies alike.
    lineChart({
      ...{ ...common, title: 'A broadcast in terms of targeted operations, p50' },
      y: { label: 'times', format: 'times' },
      series: [{ name: 'broadcast', tone: 5, points: ratios.filter(([, ratio]) => ratio !== null) }],
    }),
  ].filter((chart) => chart !== undefined)
}

function stepTable(report: LoadReport): ReportPart {
  const { of, steps } = report.sweep!
  const classes = classesOf(report)
  const rows = steps.map(({ value, report: step }) => {
    const { ok } = step.endCheck
    const ratio = broadcastOf(step)
    const latencies = classes.map((name) => {
      const latency = classOf(step, name)
      return latency === undefined ? nothing : `${duration(latency.intended.p50)} / ${duration(latency.intended.p99)}`
    })
    return [
      ...[String(value), perSecond(step.throughput), whole(step.errors.total), ...latencies],
      ratio === null ? nothing : `${ratio.toFixed(2)} ×`,
      ok === null ? 'none' : ok ? 'passed' : cell('failed', 'bad'),
    ]
  })
  const ofClasses = classes.map((name) => `#${name} p50 / p99`)
  const columns = [of, '#a second', '#errors', ...ofClasses, '#broadcast / targeted', '#end check']
  return table(`Steps of ${of}`, columns, rows)
}
