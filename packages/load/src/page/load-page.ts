/** What the page of a load test shows. */
import { counted } from '@shardlab/quantities'
import {
  cell,
  heading,
  list,
  paragraph,
  table,
  type BarChart,
  type Cell,
  type ReportPage,
  type ReportPart,
  type Tiles,
} from '@shardlab/report'
import { duration, percent, perSecond, whole } from '../report/format.js'
import {
  checkLine,
  loopOf,
  lostSentences,
  notBegunSentence,
  textReport,
  topologyOf,
  transactionLines,
} from '../report/text-report.js'
import type { Latency, LoadReport } from '../types.js'
import { histogramChart, percentileChart, timelineParts } from './load-charts.js'
import { sweepParts } from './sweep-parts.js'
import { capital, nothing, sentence } from './texts.js'

export function loadPage(report: LoadReport): ReportPage {
  return {
    shardlabReport: 1,
    title: `${report.workload.name} on ${report.measured.server}`,
    text: textReport(report),
    parts: [...(report.sweep === null ? singleParts(report) : sweepParts(report)), ...measuredParts(report)],
  }
}

function singleParts(report: LoadReport): ReportPart[] {
  const { latencyUs, errors, routing, transactions } = report
  const classes = latencyUs.byRoutingClass as Readonly<Record<string, Latency>>
  return [
    ...header(report),
    tiles(report),
    ...timelineParts(report),
    heading(2, 'Latency'),
    latencyTable('Latency by operation', { all: latencyUs.all, ...latencyUs.byOperation }),
    ...percentileChart('By operation', latencyUs.byOperation),
    heading(2, 'By routing class'),
    paragraph(sentence(`${routing.derivedFrom}${routing.placementChanged ? '; chunks have moved since' : ''}`)),
    latencyTable('Latency by routing class', classes),
    ...percentileChart('By routing class', classes),
    ...histogramChart(latencyUs.all),
    ...(errors.total > 0 ? errorParts(report) : []),
    ...(transactions === null
      ? []
      : [heading(2, 'Transactions'), ...transactionLines(transactions).map((line) => paragraph(sentence(line)))]),
    ...shardParts(report),
    ...endCheckParts(report),
  ]
}

function header(report: LoadReport): ReportPart[] {
  const { workload, interrupted, notBegun } = report
  const data = `${sentence(loopOf(report))} ${counted(workload.records, 'record', whole)} in `
  return [
    heading(1, workload.name),
    paragraph([
      ...[data, { code: workload.ns }],
      ...(report.measured.mongoses === 0 ? [] : [', shard key ', { code: workload.shardKey }]),
      `, seed ${workload.seed}. ${sentence(topologyOf(report))}`,
    ]),
    ...(interrupted ? [paragraph('Interrupted: the figures cover what was done until then.', 'bad')] : []),
    ...(notBegun > 0 ? [paragraph(`${notBegunSentence(report)}.`, 'bad')] : []),
    ...lostSentences(report).map((each) => paragraph(sentence(each), 'bad')),
  ]
}

function tiles({ latencyUs: { all }, errors: { total }, endCheck, throughput }: LoadReport): Tiles {
  const { count, errors, intended } = all
  const shown = (us: number): string => (count === errors ? nothing : duration(us))
  const check = { null: 'none', true: 'passed', false: 'failed' }[`${endCheck.ok}`]
  return {
    kind: 'tiles',
    tiles: [
      { name: 'operations a second', value: perSecond(throughput) },
      { name: 'p50', value: shown(intended.p50) },
      { name: 'p99', value: shown(intended.p99) },
      { name: 'max', value: shown(intended.max) },
      { name: 'errors', value: whole(total), ...(total > 0 ? { tone: 'warn' } : {}) },
      { name: 'end check', value: check, ...(endCheck.ok === null ? {} : { tone: endCheck.ok ? 'fine' : 'bad' }) },
    ],
  }
}

function latencyTable(label: string, latencies: Readonly<Record<string, Latency>>): ReportPart {
  const rows = Object.entries(latencies).map(([name, { count, errors, intended, service }]): Cell[] => [
    ...[name, whole(count), errors > 0 ? cell(whole(errors), 'warn') : whole(errors)],
    ...[
      ...[intended.mean, intended.p50, intended.p90, intended.p95, intended.p99],
      ...[intended.p999, intended.p9999, intended.max, service.p50, service.p99],
    ].map((us) => (count === errors ? nothing : duration(us))),
  ])
  const percentiles = ['#mean', '#p50', '#p90', '#p95', '#p99', '#p99.9', '#p99.99', '#max', '#p50', '#p99']
  return table(label, ['', '#count', '#errors', ...percentiles], rows, [
    { title: '', columns: 3 },
    { title: 'from the intended start', columns: 8 },
    { title: 'from the sending', columns: 2 },
  ])
}

function errorParts({ errors, latencyUs }: LoadReport): ReportPart[] {
  const { p50, max } = latencyUs.failed!
  const rows = Object.entries(errors.byCode).flatMap(([code, byOperation]) =>
    Object.entries(byOperation).map(([name, count]) => [code, name, whole(count)]),
  )
  return [
    heading(2, 'Errors'),
    paragraph(
      `Failed operations took ${duration(p50)} at the median, ${duration(max)} at most; they are in no table above.`,
    ),
    table('Errors', ['code', 'operation', '#count'], rows),
  ]
}

function shardParts({ perShard, hottestShard }: LoadReport): ReportPart[] {
  const entries = Object.entries(perShard)
  if (entries.length === 0) return []
  const bars: BarChart = {
    kind: 'bars',
    title: 'Share of the operations; one that asks several shards counts for each',
    bars: entries.map(([name, { share }]) => ({
      ...{ name, value: share, shown: `${percent(share)}${name === hottestShard ? ', hottest' : ''}` },
      tone: name === hottestShard ? 5 : 0,
    })),
  }
  const rows = entries.map(([name, { operations, chunks, latencyUs: alone }]) => [
    ...[name, whole(operations), whole(chunks)],
    ...[alone?.p50, alone?.p90, alone?.p99, alone?.max].map((us) => (us === undefined ? nothing : duration(us))),
  ])
  const columns = ['', '#operations', '#chunks', '#p50', '#p90', '#p99', '#max']
  const groups = [
    { title: '', columns: 3 },
    { title: 'of operations that went to it alone, from the intended start', columns: 4 },
  ]
  return [heading(2, 'Shards'), bars, table('Shards', columns, rows, groups)]
}

function endCheckParts(report: LoadReport): ReportPart[] {
  const { ok, examples } = report.endCheck
  const line = sentence(checkLine(report).replace(/^End check: /, ''))
  return [
    heading(2, 'End check'),
    paragraph(line, ok === false ? 'bad' : undefined),
    ...(examples.length === 0 ? [] : [list(examples)]),
  ]
}

function measuredParts({ measured }: LoadReport): ReportPart[] {
  const { client, server, uri, id, startedAt, engine, threads, notLearned, caveat } = measured
  const machine = `${client.cores} × ${client.cpu}, ${Math.round(client.memoryBytes / 2 ** 30)} GiB, ${client.platform}`
  const where = threads === 0 ? 'in its main thread' : `on ${counted(threads, 'thread')}`
  return [
    heading(2, 'What was measured'),
    paragraph([
      ...[`${capital(server)}, through `, { code: uri }, ', run ', { code: id }, ` at ${startedAt}. `],
      `The client ran on ${machine}, Node.js ${client.node}, with the engine ${engine} ${where}.`,
    ]),
    ...(notLearned.length === 0 ? [] : [paragraph('The server did not provide:'), list(notLearned)]),
    paragraph(caveat),
  ]
}
