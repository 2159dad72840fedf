/** Results as text, the variants side by side. */
import { table } from '@shardlab/load'
import type { ScenarioFile } from '../file/parse.js'
import type { ImbalanceOverTime, VariantResult, VariantRun } from '../types.js'
import { bytesText, clockText, percent, ratio, timeText, whole } from './format.js'

/** A row of the comparison: its name and what it shows of a variant. */
export type ResultRow = readonly [name: string, of: (result: VariantResult) => string]

const over = ({ first, worst, last }: ImbalanceOverTime): string =>
  [first, worst, last].map(({ maxToMean }) => ratio(maxToMean)).join(' / ')

export const resultRows: readonly ResultRow[] = [
  ['version', ({ emulate }) => emulate],
  ['bytes, largest to mean: first / worst / last', ({ imbalance }) => over(imbalance.bytes)],
  ['chunks, largest to mean: first / worst / last', ({ imbalance }) => over(imbalance.chunks)],
  [
    'operations, largest to mean: first / worst / last',
    ({ imbalance }) => (imbalance.operations === null ? '–' : over(imbalance.operations)),
  ],
  ['migrations', ({ migrations }) => whole(migrations.total)],
  ['  for', ({ migrations }) => reasonsText(migrations)],
  ['  aborted / moved again / moved back', ({ migrations }) => `${migrations.aborted} / ${migrations.repeated} / ${migrations.returned}`],
  ['splits / merges', ({ splits, merges }) => `${splits} / ${merges}`],
  [
    'bytes moved / least that would have done',
    ({ bytesMoved, bytesMovedLeast }) => `${bytesText(bytesMoved)} / ${bytesText(bytesMovedLeast)}`,
  ],
  ['nothing moved any more after', ({ convergedAtMs }) => (convergedAtMs === null ? 'not yet' : timeText(convergedAtMs))],
  ['jumbo chunks', ({ jumboChunks }) => whole(jumboChunks)],
  ['operations / failed', ({ operations }) => `${whole(operations.total)} / ${whole(operations.failed)}`],
  ['  errors', ({ operations }) => errorsText(operations.errors)],
  [
    '  targeted / multi / broadcast',
    ({ operations: { routed } }) => [routed.targeted, routed.multi, routed.broadcast].map(percent).join(' / '),
  ],
  [
    '  time p50 / p99 / max',
    ({ operations: { latencyMs } }) =>
      latencyMs === null ? '–' : [latencyMs.p50, latencyMs.p99, latencyMs.max].map((ms) => `${whole(ms)} ms`).join(' / '),
  ],
  ['hottest shard', ({ hottest }) => (hottest === null ? '–' : `${hottest.shard}, ${percent(hottest.share)}`)],
  ['trace', ({ traceHash }) => traceHash],
]

function reasonsText({ byReason }: VariantResult['migrations']): string {
  const named = Object.entries(byReason).filter(([, count]) => count > 0)
  return named.length === 0 ? '–' : named.map(([reason, count]) => `${reason} ${count}`).join(', ')
}

function errorsText(errors: Readonly<Record<string, number>>): string {
  const named = Object.entries(errors).map(([code, count]) => `${errorName(code)} ${count}`)
  return named.length === 0 ? '–' : named.join(', ')
}

/** Codes of our own have words. */
function errorName(code: string): string {
  if (code === '0') return 'router away'
  return code === '-1' ? 'not sent' : `code ${code}:`
}

export function textReport(file: ScenarioFile, runs: readonly VariantRun[]): string {
  const results = runs.map(({ result }) => result)
  const rows = [['', ...results.map(({ name }) => name)], ...resultRows.map(([name, of]) => [name, ...results.map(of)])]
  const parts = [file.shows === null ? '' : `${file.shows}\n\n`, `${table(rows, '')}\n`]
  for (const { result } of runs) parts.push(shardsText(result, runs.length > 1))
  for (const { name, failedSteps } of results)
    for (const { atMs, step, error } of failedSteps) parts.push(`\n${name}: at ${timeText(atMs)} ${step} failed: ${error}`)
  const took = runs.reduce((sum, { tookMs }) => sum + tookMs, 0)
  const virtual = results.reduce((sum, { durationMs }) => sum + durationMs, 0)
  parts.push(`\n${timeText(virtual)} simulated in ${(took / 1000).toFixed(1)} s, seed ${file.seed}.\n`)
  return parts.join('')
}

function shardsText({ name, shards }: VariantResult, isOneOfMany: boolean): string {
  const rows = Object.entries(shards).map(([id, { bytes, chunks, operations, draining }]) => [
    `${id}${draining ? ' (drains)' : ''}`,
    bytesText(bytes),
    whole(chunks),
    whole(operations),
  ])
  const title = isOneOfMany ? `\n${name}, at the end:\n` : '\nAt the end:\n'
  return `${title}${table([['shard', 'bytes', 'chunks', 'operations'], ...rows])}\n`
}

/** What was decided and why, a line each. */
export function decisionsText(runs: readonly VariantRun[]): string {
  return runs
    .map(({ result, decisions }) => {
      const lines = decisions.map(({ atMs, kind, text }) => `  ${clockText(atMs)}  ${kind.padEnd(9)}  ${text}`)
      return `\n${result.name}:\n${lines.length === 0 ? '  nothing was decided' : lines.join('\n')}\n`
    })
    .join('')
}
