import { table } from '@shardlab/load'
import type { ScenarioFile } from '../file/parse.js'
import type { ImbalanceOverTime, ShardSample, VariantResult, VariantRun } from '../types.js'
import { bytesText, clockText, percent, ratio, timeText, whole } from './format.js'

/** With more shards only both extremes are listed. */
const listedMax = 24

export type ResultRow = readonly [name: string, of: (result: VariantResult) => string]

const over = ({ first, worst, last }: ImbalanceOverTime): string =>
  [first, worst, last].map(({ maxToMean }) => ratio(maxToMean)).join(' / ')

const nothing = '–'

const resultRows: readonly ResultRow[] = [
  ['version', ({ emulate }) => emulate],
  ['bytes, largest / mean: start / worst / end', ({ imbalance }) => over(imbalance.bytes)],
  ['chunks, largest / mean: start / worst / end', ({ imbalance }) => over(imbalance.chunks)],
  [
    'operations, largest / mean: start / worst / end',
    ({ imbalance }) => (imbalance.operations === null ? nothing : over(imbalance.operations)),
  ],
  ['migrations', ({ migrations }) => whole(migrations.total)],
  ['  by reason', ({ migrations }) => reasonsText(migrations)],
  [
    '  aborted / repeated / moved back',
    ({ migrations }) => `${migrations.aborted} / ${migrations.repeated} / ${migrations.returned}`,
  ],
  ['splits / merges', ({ splits, merges }) => (splits + merges === 0 ? nothing : `${splits} / ${merges}`)],
  [
    'bytes moved / minimum',
    ({ bytesMoved, bytesMovedLeast }) => `${bytesText(bytesMoved)} / ${bytesText(bytesMovedLeast)}`,
  ],
  ['converged after', ({ convergedAtMs }) => (convergedAtMs === null ? 'not converged' : timeText(convergedAtMs))],
  ['jumbo chunks', ({ jumboChunks }) => (jumboChunks === 0 ? nothing : whole(jumboChunks))],
  [
    'orphaned documents: most / end',
    ({ orphans }) => (orphans.worst === 0 ? nothing : `${whole(orphans.worst)} / ${whole(orphans.last)}`),
  ],
  [
    'critical sections: longest / total',
    ({ criticalSections: { longestMs, totalMs } }) =>
      totalMs === 0 ? nothing : `${whole(longestMs)} ms / ${whole(totalMs)} ms`,
  ],
  [
    'operations / failed',
    ({ operations: { total, failed } }) => (total === 0 ? nothing : `${whole(total)} / ${whole(failed)}`),
  ],
  ['  errors', ({ operations }) => errorsText(operations.errors)],
  [
    '  targeted / multi / broadcast',
    ({ operations: { total, routed } }) =>
      total === 0 ? nothing : [routed.targeted, routed.multi, routed.broadcast].map(percent).join(' / '),
  ],
  [
    '  latency: p50 / p99 / max',
    ({ operations: { total, latencyMs } }) =>
      latencyMs === null || total === 0
        ? nothing
        : [latencyMs.p50, latencyMs.p99, latencyMs.max].map((ms) => `${whole(ms)} ms`).join(' / '),
  ],
  ['hottest shard', ({ hottest }) => (hottest === null ? nothing : `${hottest.shard}, ${percent(hottest.share)}`)],
  ['trace hash', ({ traceHash }) => traceHash],
]

function reasonsText({ byReason }: VariantResult['migrations']): string {
  const named = Object.entries(byReason).filter(([, count]) => count > 0)
  return named.length === 0 ? nothing : named.map(([reason, count]) => `${reason} ${count}`).join(', ')
}

function errorsText(errors: Readonly<Record<string, number>>): string {
  const named = Object.entries(errors).map(([code, count]) => `${errorName(code)} ${count}`)
  return named.length === 0 ? nothing : named.join(', ')
}

function errorName(code: string): string {
  if (code === '0') return 'no router'
  return code === '-1' ? 'not sent' : `code ${code}:`
}

/** Rows without a value in all variants are left out. */
export function shownRows(results: readonly VariantResult[]): readonly ResultRow[] {
  return resultRows.filter(([, of]) => results.some((result) => of(result) !== nothing))
}

export function textReport(file: ScenarioFile, runs: readonly VariantRun[]): string {
  const results = runs.map(({ result }) => result)
  const rows = [
    ['', ...results.map(({ name }) => name)],
    ...shownRows(results).map(([name, of]) => [name, ...results.map(of)]),
  ]
  const parts = [file.shows === null ? '' : `${file.shows}\n\n`, `${table(rows, '')}\n`]
  const stopped = interruptions(file, runs)
  if (stopped.length > 0) parts.push(`\n${stopped.join('\n')}\n`)
  for (const run of runs) parts.push(shardsText(run, runs.length > 1))
  for (const { name, failedSteps } of results)
    for (const { atMs, step, error } of failedSteps)
      parts.push(`\n${name}: at ${timeText(atMs)} ${step} failed: ${error}`)
  const took = runs.reduce((sum, { tookMs }) => sum + tookMs, 0)
  const virtual = results.reduce((sum, { durationMs }) => sum + durationMs, 0)
  parts.push(`\n${timeText(virtual)} simulated in ${(took / 1000).toFixed(1)} s, seed ${file.seed}.\n`)
  return parts.join('')
}

export function interruptions({ variants }: ScenarioFile, runs: readonly VariantRun[]): string[] {
  const stopped = runs.filter(({ interrupted }) => interrupted === true)
  return [
    ...stopped.map(({ result: { name, durationMs } }) => {
      const whole = variants.find((variant) => variant.name === name)!.duration
      return `${name} was interrupted after ${timeText(durationMs)} of ${timeText(whole)}; its expectations were not checked.`
    }),
    ...variants
      .filter(({ name }) => !runs.some(({ result }) => result.name === name))
      .map(({ name }) => `${name} was not started.`),
  ]
}

function shardsText({ result: { name, shards }, interrupted }: VariantRun, isOneOfMany: boolean): string {
  const all = Object.entries(shards)
  const left = all.length <= listedMax ? 0 : all.length - listedMax
  const listed = left === 0 ? all : extremes(all)
  const rows = listed.map(([id, { bytes, chunks, operations, draining }]) => [
    `${id}${draining ? ' (draining)' : ''}`,
    bytesText(bytes),
    whole(chunks),
    whole(operations),
  ])
  const when = interrupted === true ? 'when it was interrupted' : 'at the end'
  const title = `\n${isOneOfMany ? `${name}, ${when}` : `${when[0]!.toUpperCase()}${when.slice(1)}`}:\n`
  const lines = table([['shard', 'bytes', 'chunks', 'operations'], ...rows]).split('\n')
  if (left > 0) lines.splice(1 + listedMax / 2, 0, `  … ${whole(left)} more shards …`)
  return `${title}${lines.join('\n')}\n`
}

function extremes(shards: readonly (readonly [string, ShardSample])[]): readonly (readonly [string, ShardSample])[] {
  const sorted = shards.toSorted(([, a], [, b]) => b.bytes - a.bytes)
  return [...sorted.slice(0, listedMax / 2), ...sorted.slice(-listedMax / 2)]
}

export function decisionsText(runs: readonly VariantRun[]): string {
  return runs
    .map(({ result, decisions }) => {
      const lines = decisions.map(({ atMs, kind, text }) => `  ${clockText(atMs)}  ${kind.padEnd(9)}  ${text}`)
      return `\n${result.name}:\n${lines.length === 0 ? '  no decisions' : lines.join('\n')}\n`
    })
    .join('')
}
