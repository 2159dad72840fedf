import { cpus, totalmem } from 'node:os'
import type { PlacementData } from '../placement/placement.js'
import type { CommitPaths } from '../placement/commit-paths.js'
import { risenBy, type Opcounters } from '../placement/shard-counters.js'
import { withoutPassword, type Control } from '../run/control.js'
import { encodeHistogram, mergeHistograms, newHistogram, summaryOf, type Histogram } from '../run/histograms.js'
import type { LaneResult } from '../run/lane.js'
import type { CellData } from '../run/recorder.js'
import type { ResolvedLoad } from '../run/resolve-options.js'
import type {
  EndCheckReport,
  Latency,
  LatencySummary,
  LoadOptions,
  LoadReport,
  LostGenerator,
  RoutingClass,
  ShardShare,
  TimelinePoint,
  TransactionsReport,
} from '../types.js'

export interface MeasuredParts {
  readonly load: ResolvedLoad
  readonly control: Control
  readonly options: LoadOptions
  readonly placement: PlacementData
  readonly placementChanged: boolean
  readonly results: readonly LaneResult[]
  readonly lostGenerators: readonly LostGenerator[]
  readonly marks: LoadReport['marks']
  readonly id: string
  readonly startedAt: string
  readonly durationSecs: number
  readonly interrupted: boolean
  readonly intervalSecs: number
  readonly counters: {
    readonly before: ReadonlyMap<string, Opcounters>
    readonly after: ReadonlyMap<string, Opcounters>
  }
  readonly commitPaths: { readonly before: CommitPaths | null; readonly after: CommitPaths | null }
  readonly criticalSection: Histogram | null
  readonly endCheck: EndCheckReport
}

export function buildReport(parts: MeasuredParts): LoadReport {
  const { load, results, durationSecs, placement } = parts
  const { workload } = load
  const cells = results.flatMap(({ recorder }) => recorder.cells)
  const all = latencyOf(cells)
  const byOperation: Record<string, Latency> = {}
  const mix: Record<string, number> = {}
  for (const { index, name } of workload.operations) {
    const own = cells.filter(({ operation }) => operation === index)
    if (own.length > 0) byOperation[name] = latencyOf(own)
    mix[name] = all.count === 0 ? 0 : Math.round(((byOperation[name]?.count ?? 0) / all.count) * 10000) / 10000
  }
  const byRoutingClass: Partial<Record<RoutingClass, Latency>> = {}
  for (const routingClass of ['targeted', 'multi', 'broadcast', 'unrouted', 'unknown'] as const) {
    const own = cells.filter((cell) => cell.routingClass === routingClass)
    if (own.length > 0) byRoutingClass[routingClass] = latencyOf(own)
  }
  const waited = parts.criticalSection
  if (waited !== null && waited.totalCount > 0) {
    const summary = summaryOf(waited)
    byRoutingClass.criticalSection = {
      count: waited.totalCount,
      errors: 0,
      intended: summary,
      service: summary,
      histogram: encodeHistogram(waited),
    }
  }
  const failed = results.flatMap(({ recorder }) => (recorder.failed === null ? [] : [recorder.failed]))
  const perShard = sharesOf(parts)
  const [hottest] = Object.entries(perShard).sort(([, a], [, b]) => b.operations - a.operations)
  return {
    shardlabLoad: 1,
    measured: measuredOf(parts),
    workload: {
      name: workload.name,
      ns: workload.ns,
      shardKey:
        workload.shardKey === null
          ? 'none'
          : Object.entries(workload.shardKey)
              .map(([field, kind]) => `${field}:${kind}`)
              .join(','),
      records: workload.records,
      seed: workload.seed,
      loop: load.phases.some(({ rate }) => rate !== null) ? 'open' : 'closed',
      rate: load.phases[0]!.rate,
      concurrency: load.phases[0]!.concurrency,
      pipeline: load.pipeline,
      phases: phasesOf(load),
      mix,
    },
    operations: all.count,
    errors: errorsOf(parts),
    retries: results.reduce((sum, { retries }) => sum + retries, 0),
    throughput: durationSecs === 0 ? 0 : Math.round(((all.count - all.errors) / durationSecs) * 10) / 10,
    durationSecs: Math.round(durationSecs * 1000) / 1000,
    interrupted: parts.interrupted,
    notBegun: results.reduce((sum, { notBegun }) => sum + notBegun, 0),
    latencyUs: {
      all,
      failed: failed.length === 0 ? null : summaryOf(mergeHistograms(failed)),
      byOperation,
      byRoutingClass,
    },
    routing: { derivedFrom: derivationOf(placement), placementChanged: parts.placementChanged },
    perShard,
    hottestShard: hottest !== undefined && hottest[1].operations > 0 ? hottest[0] : null,
    transactions: transactionsOf(parts),
    timeline: timelineOf(parts),
    marks: parts.marks,
    endCheck: parts.endCheck,
    sweep: null,
  }
}

function phasesOf({ phases }: ResolvedLoad): LoadReport['workload']['phases'] {
  const named = phases.flatMap(({ name, rate, concurrency }) => (name === null ? [] : [{ name, rate, concurrency }]))
  return named.length === 0 ? null : named
}

function latencyOf(cells: readonly CellData[]): Latency {
  const intended = mergeHistograms(cells.map((cell) => cell.intended))
  const service = mergeHistograms(cells.map((cell) => cell.service))
  const errors = cells.reduce((sum, cell) => sum + cell.errors, 0)
  const count = cells.reduce((sum, cell) => sum + cell.count, 0)
  return {
    count,
    errors,
    intended: summaryOf(intended),
    service: summaryOf(service),
    histogram: encodeHistogram(intended),
  }
}

function errorsOf({ load, results }: MeasuredParts): LoadReport['errors'] {
  const byCode: Record<string, Record<string, number>> = {}
  let total = 0
  for (const [operation, code, count] of results.flatMap(({ recorder }) => recorder.errors)) {
    const { name } = load.workload.operations[operation]!
    const ofCode = (byCode[code] ??= {})
    ofCode[name] = (ofCode[name] ?? 0) + count
    total += count
  }
  return { total, byCode }
}

function sharesOf({ placement, results, counters }: MeasuredParts): Record<string, ShardShare> {
  const operations = placement.shards.map((_, i) =>
    results.reduce((sum, { recorder }) => sum + (recorder.perShard[i] ?? 0), 0),
  )
  const total = operations.reduce((sum, count) => sum + count, 0)
  const latencyOfShard = (i: number): LatencySummary | null => {
    const histograms = results.flatMap(({ recorder }) => recorder.shardLatencies[i] ?? [])
    return histograms.length === 0 ? null : summaryOf(mergeHistograms(histograms, 2))
  }
  return Object.fromEntries(
    placement.shards.map((id, i) => [
      id,
      {
        operations: operations[i]!,
        share: total === 0 ? 0 : Math.round((operations[i]! / total) * 1e6) / 1e6,
        chunks: placement.owners.filter((owner) => owner === i).length,
        latencyUs: latencyOfShard(i),
        opcounters: risenBy(counters.before.get(id), counters.after.get(id)),
      },
    ]),
  )
}

function transactionsOf({ results, commitPaths: { before, after } }: MeasuredParts): TransactionsReport | null {
  const data = results.flatMap(({ transactions }) => transactions ?? [])
  if (data.length === 0) return null
  const byCode: Record<string, number> = {}
  let total = 0
  for (const [code, count] of data.flatMap(({ aborts }) => aborts)) {
    byCode[code] = (byCode[code] ?? 0) + count
    total += count
  }
  const commits = mergeHistograms(data.map(({ commits }) => commits))
  const risen = risenBy(before ?? undefined, after ?? undefined)
  return {
    committed: data.reduce((sum, { committed }) => sum + committed, 0),
    aborts: { total, byCode },
    retries: data.reduce((sum, { retries }) => sum + retries, 0),
    commitLatencyUs: commits.totalCount === 0 ? null : summaryOf(commits),
    commitPaths: risen === null ? null : Object.fromEntries(Object.entries(risen).filter(([, count]) => count > 0)),
  }
}

function timelineOf({ results, intervalSecs }: MeasuredParts): TimelinePoint[] {
  const intervals = new Map<number, { errors: number; histograms: string[] }>()
  for (const [interval, errors, histogram] of results.flatMap(({ recorder }) => recorder.timeline)) {
    const point = intervals.get(interval) ?? { errors: 0, histograms: [] }
    point.errors += errors
    point.histograms.push(histogram)
    intervals.set(interval, point)
  }
  const last = Math.max(-1, ...intervals.keys())
  return Array.from({ length: last + 1 }, (_, i) => {
    const { errors, histograms } = intervals.get(i) ?? { errors: 0, histograms: [] }
    const merged = histograms.length === 0 ? newHistogram(2) : mergeHistograms(histograms, 2)
    const summary = summaryOf(merged)
    const atSecs = Math.round(i * intervalSecs * 1000) / 1000
    return { atSecs, operations: merged.totalCount, errors, p50Us: summary.p50, p99Us: summary.p99, maxUs: summary.max }
  })
}

function derivationOf({ isRouted, isKnown, key }: PlacementData): string {
  if (!isKnown) return 'the server is a mongos that does not show where chunks are'
  if (!isRouted) return 'the server is not a mongos: operations are not routed'
  if (key === null) return 'the collection is not sharded: everything goes to the primary shard of its database'
  return "each operation's key against config.chunks as read before the first operation"
}

function measuredOf({
  load,
  control,
  options,
  placement,
  lostGenerators,
  id,
  startedAt,
}: MeasuredParts): LoadReport['measured'] {
  const processors = cpus()
  const { isEmulator, version } = control
  return {
    id,
    server: isEmulator
      ? `Shardlab, an emulator, as MongoDB ${version}`
      : `a server that calls itself MongoDB ${version}`,
    isEmulator,
    topology: control.topology,
    shards: placement.shards.length,
    mongoses: control.isMongos ? control.hosts.length : 0,
    uri: withoutPassword(options.uri),
    client: {
      cpu: processors[0]?.model ?? 'unknown',
      cores: processors.length,
      memoryBytes: totalmem(),
      platform: `${process.platform} ${process.arch}`,
      node: process.version,
    },
    engine: load.engine,
    threads: load.threads,
    startedAt,
    notLearned: control.notLearned.sentences,
    // Others may be lost while the run ends.
    lostGenerators: [...lostGenerators],
    caveat: isEmulator
      ? "An emulator's absolute speed is not MongoDB's: compare runs on the same machine with each other, not these numbers with a real cluster's."
      : 'Client and server may share machines and networks with others: compare runs that were made in the same way.',
  }
}
