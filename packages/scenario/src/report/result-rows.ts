/** The numbers of a result as texts, for the tables of all reports. */
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import type { ImbalanceOverTime, VariantResult } from '../types.js'
import { bytesText, percent, ratio, timeText, whole } from './format.js'
import { planningRows } from './planning-rows.js'
import { nothing, type ResultRow } from './result-row.js'

const over = ({ first, worst, last }: ImbalanceOverTime): string =>
  [first, worst, last].map(({ maxToMean }) => ratio(maxToMean)).join(' / ')

const resultRows: readonly ResultRow[] = [
  ['version', ({ emulate }) => emulate],
  ['bytes, largest / mean: start / worst / end', ({ imbalance }) => over(imbalance.bytes)],
  [
    'chunks, largest / mean: start / worst / end',
    // Since 6.0.3 chunks of any size are even when their bytes are.
    ({ emulate, imbalance }) =>
      behavioursOf(emulate as EmulatedVersion).balancerMovesDataBySize ? nothing : over(imbalance.chunks),
  ],
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
  ['largest disk of a shard', (result) => largestDisk(result)],
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
  [
    'transactions: committed / failed',
    ({ transactions: all }) => (all === null ? nothing : `${whole(all.committed)} / ${whole(all.failed)}`),
  ],
  ['  aborted runs', ({ transactions: all }) => (all === null ? nothing : errorsText(all.aborts))],
  ['  commit paths', ({ transactions: all }) => (all === null ? nothing : countsText(all.commitPaths))],
  ['  shards of a commit, mean', ({ transactions: all }) => (all === null ? nothing : all.participants.toFixed(2))],
  [
    'elections / step-downs',
    ({ replication: all }) => (all === null ? nothing : `${whole(all.elections)} / ${whole(all.stepDowns)}`),
  ],
  [
    '  longest time without a primary',
    ({ replication: all }) => (all === null ? nothing : timeText(all.longestWithoutPrimaryMs)),
  ],
  [
    '  rollbacks / entries',
    ({ replication: all }) =>
      all === null || all.rollbacks === 0 ? nothing : `${whole(all.rollbacks)} / ${whole(all.rolledBackEntries)}`,
  ],
  ['  largest lag of a member', ({ replication: all }) => (all === null ? nothing : timeText(all.worstLagMs))],
  ['hottest shard', ({ hottest }) => (hottest === null ? nothing : `${hottest.shard}, ${percent(hottest.share)}`)],
  ['trace hash', ({ traceHash }) => traceHash],
]

function reasonsText({ byReason }: VariantResult['migrations']): string {
  const named = Object.entries(byReason).filter(([, count]) => count > 0)
  return named.length === 0 ? nothing : named.map(([reason, count]) => `${reason} ${count}`).join(', ')
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const named = Object.entries(counts).map(([name, count]) => `${name} ${whole(count)}`)
  return named.length === 0 ? nothing : named.join(', ')
}

function errorsText(errors: Readonly<Record<string, number>>): string {
  const named = Object.entries(errors).map(([code, count]) => `${errorName(code)} ${count}`)
  return named.length === 0 ? nothing : named.join(', ')
}

function errorName(code: string): string {
  if (code === '0') return 'no router'
  return code === '-1' ? 'not sent' : `code ${code}:`
}

function largestDisk({ shards }: VariantResult): string {
  const [first] = Object.entries(shards).toSorted(([, a], [, b]) => b.peak.diskBytes - a.peak.diskBytes)
  return first === undefined || first[1].peak.diskBytes === 0
    ? nothing
    : `${first[0]}, ${bytesText(first[1].peak.diskBytes)}`
}

/** A row for each zone of any variant. */
function zoneRows(results: readonly VariantResult[]): ResultRow[] {
  const zones = [...new Set(results.flatMap(({ imbalance }) => Object.keys(imbalance.zones)))].toSorted()
  return zones.map((zone) => [
    `  in zone ${zone}`,
    ({ imbalance }) => (imbalance.zones[zone] === undefined ? nothing : over(imbalance.zones[zone])),
  ])
}

/** Rows without a value in all variants are left out. */
export function shownRows(results: readonly VariantResult[]): readonly ResultRow[] {
  const [version, bytes, ...others] = resultRows
  return [version!, bytes!, ...zoneRows(results), ...others, ...planningRows(results)].filter(([, of]) =>
    results.some((result) => of(result) !== nothing),
  )
}
