/** What the page of a simulation shows. */
import { counted } from '@shardlab/quantities'
import {
  columnOf,
  heading,
  list,
  ownersOf,
  paragraph,
  table,
  type Instants,
  type Owners,
  type ReportPage,
  type ReportPart,
  type Table,
} from '@shardlab/report'
import type { ScenarioFile } from '../file/parse.js'
import { bytesText, clockText, percent, timeText, whole } from '../report/format.js'
import { operationRows, routingText } from '../report/operations-table.js'
import { shownRows } from '../report/result-rows.js'
import { interruptions, obstacles, shardName, textReport } from '../report/text-report.js'
import { operationShare } from '../run/operation-share.js'
import { wallTimeMs } from '../run/wall-time.js'
import type { Decision, KeyMap, Sample, VariantResult, VariantRun } from '../types.js'
import { chartsOf, shardsOf, sideBySide } from './run-charts.js'
import { shownInstants } from './shown-instants.js'
import { wordTable } from './words.js'

const decisionsMax = 500
/** Longer tables are collapsed. */
const openMax = 40

export function scenarioPage(file: ScenarioFile, runs: readonly VariantRun[]): ReportPage {
  const title = file.path
    .split(/[\\/]/)
    .at(-1)!
    .replace(/\.ya?ml$/, '')
  const results = runs.map(({ result }) => result)
  return {
    ...{ shardlabReport: 1, title, text: textReport(file, runs) },
    parts: [
      heading(1, title),
      ...[file.shows, file.about].flatMap((text) => (text === null ? [] : [paragraph(text)])),
      ...failureParts(file, runs),
      comparison(results),
      ...operationParts(results),
      ...expectationParts(file),
      { kind: 'details', summary: 'Glossary', isOpen: false, parts: [wordTable] },
      ...(runs.length > 1 ? sideBySide(runs) : []),
      ...runs.flatMap((run) => runParts(run, runs.length > 1)),
      paragraph(
        `Seed ${file.seed}; simulated in ${(wallTimeMs(runs) / 1000).toFixed(1)} s of real time. The same file and seed always give the same result.`,
      ),
    ],
  }
}

function failureParts(file: ScenarioFile, runs: readonly VariantRun[]): ReportPart[] {
  const failed = runs.flatMap(({ result: { name, failedExpectations, failedSteps } }) => [
    ...failedExpectations.map(({ message }) => `${name}: ${message}`),
    ...failedSteps.map(({ atMs, step, error }) => `${name}: at ${timeText(atMs)} ${step} failed: ${error}`),
  ])
  const sentences = [...interruptions(file, runs), ...failed, ...obstacles(runs.map(({ result }) => result))]
  return sentences.length === 0 ? [] : [list(sentences, 'bad')]
}

function comparison(results: readonly VariantResult[]): Table {
  const names = results.map(({ name }) => (results.length > 1 ? name : ''))
  return {
    ...{ kind: 'table', label: 'Results', columns: ['', ...names.map((name) => `~${name}`)].map(columnOf) },
    rows: shownRows(results).map(([name, of]) => ({
      cells: [name.trim(), ...results.map(of)],
      ...(name.startsWith(' ') ? { isPart: true } : {}),
    })),
  }
}

function operationParts(results: readonly VariantResult[]): ReportPart[] {
  const rows = operationRows(results)
  if (rows.length === 0) return []
  const columns = ['', ...results.map(({ name }) => name)].map((name) => `~${name}`)
  return [
    heading(2, 'Operations at the end'),
    table(
      'Operations at the end',
      columns,
      rows.map(({ name, operation, cells }) => [
        [`${name}: `, { code: operation }],
        ...cells.map((shape) => (shape === null ? '' : [{ strong: routingText(shape) }, `: ${shape.because}`])),
      ]),
    ),
  ]
}

/** Failed expectations are listed above this table. */
function expectationParts({ variants }: ScenarioFile): ReportPart[] {
  const rows = variants.flatMap(({ name, expect }) =>
    expect.map((expectation, i) => [i === 0 ? name : '', expectation]),
  )
  if (rows.length === 0) return []
  const summary = 'Expectations of the file'
  return [{ kind: 'details', summary, isOpen: false, parts: [table(summary, ['variant', '~expectation'], rows)] }]
}

function runParts(run: VariantRun, isOneOfMany: boolean): ReportPart[] {
  const { result, samples, decisions, maps } = run
  const shards = shardsOf(samples)
  const instants = shownInstants(samples)
  const valuesOf = (of: 'bytes' | 'chunks' | 'orphans') =>
    instants.map((sample) => shards.map((id) => sample.shards[id]?.[of] ?? null))
  const part: Instants = {
    ...{ kind: 'instants', times: instants.map(({ atMs }) => atMs), shards },
    ...{ bytes: valuesOf('bytes'), chunks: valuesOf('chunks'), orphans: valuesOf('orphans') },
    charts: chartsOf(run, shards),
    owners: Object.entries(maps)
      .map(([ns, map]) => ownersIn(ns, map, instants, shards))
      .filter((owners) => owners !== undefined),
  }
  return [
    ...(isOneOfMany ? [heading(2, result.name)] : []),
    part,
    ...shardParts(result.shards),
    ...decisionParts(decisions),
  ]
}

function ownersIn(
  ns: string,
  { bytes, zones }: KeyMap,
  instants: readonly Sample[],
  shards: readonly string[],
): Owners | undefined {
  const rows = instants.map(({ chunks }) => chunks[ns] ?? [])
  return ownersOf({ ns, rows, shards, zones, sizes: { name: 'bytes', title: 'bytes at the end', values: bytes } })
}

function shardParts(shards: VariantResult['shards']): readonly ReportPart[] {
  const rows = Object.entries(shards).map(([id, shard]) => {
    const { bytes, peak, chunks, operations, sentBytes, receivedBytes } = shard
    return [
      ...[shardName(id, shard), bytesText(bytes), bytesText(peak.bytes), bytesText(peak.diskBytes)],
      ...[whole(peak.orphans), `${bytesText(sentBytes)} / ${bytesText(receivedBytes)}`],
      ...[whole(chunks), whole(operations), percent(operationShare(shards, id))],
    ]
  })
  const sizes = ['#bytes', '#bytes at most', '#disk at most', '#orphans at most', '#sent / received']
  const columns = ['shard, at the end', ...sizes, '#chunks', '#operations', '#share of operations']
  return collapsed(`${counted(rows.length, 'shard', whole)} at the end`, rows.length, [
    table('Shards at the end', columns, rows),
  ])
}

function decisionParts(decisions: readonly Decision[]): ReportPart[] {
  if (decisions.length === 0) return [paragraph('The balancer made no decisions.')]
  const rows = decisions.slice(0, decisionsMax).map(({ atMs, kind, text }) => [clockText(atMs), kind, text])
  const rest = decisions.length - rows.length
  const summary = `${counted(decisions.length, 'decision', whole)} with reasons`
  return [
    {
      ...{ kind: 'details', summary, isOpen: decisions.length <= openMax },
      parts: [
        table('Decisions', ['time', 'kind', '~reason'], rows),
        ...(rest === 0 ? [] : [paragraph(`Not shown: ${whole(rest)} more; shardlab simulate --explain prints all.`)]),
      ],
    },
  ]
}

const collapsed = (summary: string, rows: number, parts: readonly ReportPart[]): readonly ReportPart[] =>
  rows <= openMax ? parts : [{ kind: 'details', summary, isOpen: false, parts }]
