import { counted } from '@shardlab/quantities'
import type { Latency, LoadReport, Mark, Ramp, TransactionsReport, WorkloadReport } from '../types.js'
import { duration, percent, perSecond, table, whole } from './format.js'

export function textReport(report: LoadReport): string {
  const parts =
    report.sweep === null
      ? [single(report)]
      : [
          sweep(report),
          ...(report.sweep.steps.some(({ report: step }) => step.endCheck.ok === false) ? ['', single(report)] : []),
        ]
  return `${parts.join('\n')}\n`
}

const latencyHead = ['', 'count', 'errors', 'p50', 'p90', 'p99', 'p99.9', 'p99.99', 'max', 'service p99']
const latencyRow = (name: string, { count, errors, intended, service }: Latency): string[] => [
  ...[name, whole(count), whole(errors)],
  ...[intended.p50, intended.p90, intended.p99, intended.p999, intended.p9999, intended.max, service.p99].map((us) =>
    count === errors ? '-' : duration(us),
  ),
]

/** Only routers have one. */
export const keyOf = ({ measured, workload }: LoadReport): string =>
  measured.mongoses === 0 ? '' : `, shard key ${workload.shardKey}`

function single(report: LoadReport): string {
  const { latencyUs, workload, measured, errors } = report
  const lines = [
    ...(report.interrupted ? ['Interrupted: the figures cover what was done until then', ''] : []),
    `${workload.name}: ${counted(report.operations, 'operation', whole)} in ${report.durationSecs.toFixed(1)} s, ${perSecond(report.throughput)} a second, ${counted(errors.total, 'error', whole)}, ${report.retries === 1 ? '1 retry' : `${whole(report.retries)} retries`}`,
    `  ${loopOf(report)}; ${counted(workload.records, 'record', whole)} in ${workload.ns}${keyOf(report)}, seed ${workload.seed}`,
    ...(report.notBegun > 0 ? [`  ${notBegunSentence(report)}`] : []),
    ...lostSentences(report).map((each) => `  ${each}`),
    '',
    'Latency from the intended start',
    table([
      latencyHead,
      latencyRow('all', latencyUs.all),
      ...Object.entries(latencyUs.byOperation).map(([name, latency]) => latencyRow(name, latency)),
    ]),
    '',
    `By routing class (${report.routing.derivedFrom}${report.routing.placementChanged ? '; chunks have moved since' : ''})`,
    table([
      latencyHead,
      ...Object.entries(latencyUs.byRoutingClass).map(([name, latency]) => latencyRow(name, latency)),
    ]),
  ]
  if (errors.total > 0) {
    const rows = Object.entries(errors.byCode).flatMap(([code, byOperation]) =>
      Object.entries(byOperation).map(([name, count]) => [code, name, whole(count)]),
    )
    lines.push(
      '',
      'Errors',
      table([['code', 'operation', 'count'], ...rows]),
      `  failed operations took ${duration(latencyUs.failed!.p50)} at the median, ${duration(latencyUs.failed!.max)} at most`,
    )
  }
  if (report.transactions !== null)
    lines.push('', 'Transactions', ...transactionLines(report.transactions).map((line) => `  ${line}`))
  const shards = Object.entries(report.perShard)
  if (shards.length > 0) {
    const rows = shards.map(([id, { operations, share, chunks, latencyUs: alone }]) => [
      id + (id === report.hottestShard ? ' (hottest)' : ''),
      whole(operations),
      percent(share),
      whole(chunks),
      ...(alone === null ? ['-', '-'] : [duration(alone.p50), duration(alone.p99)]),
    ])
    lines.push(
      '',
      'Shards (latency: operations that went to this shard alone)',
      table([['', 'operations', 'share', 'chunks', 'p50', 'p99'], ...rows]),
    )
  }
  if (report.marks.length > 0)
    lines.push('', 'On the timeline', ...report.marks.map((mark) => `  ${markTime(mark)}  ${mark.text}`))
  lines.push('', checkLine(report), ...report.endCheck.examples.map((example) => `  ${example}`))
  lines.push('', `Measured: ${measured.server}, ${topologyOf(report)}, through ${measured.uri}`)
  lines.push(`  client: ${clientOf(report)}`)
  lines.push(...notLearnedLines(report))
  lines.push(`  ${measured.caveat}`)
  return lines.join('\n')
}

function sweep(report: LoadReport): string {
  const { of, steps } = report.sweep!
  const classes = [...new Set(steps.flatMap(({ report: step }) => Object.keys(step.latencyUs.byRoutingClass)))]
  const rows = steps.map(({ value, report: step }) => [
    ...[
      String(value),
      perSecond(step.throughput),
      whole(step.errors.total),
      duration(step.latencyUs.all.intended.p50),
      duration(step.latencyUs.all.intended.p99),
    ],
    ...classes.map((name) => {
      const latency = (step.latencyUs.byRoutingClass as Readonly<Record<string, Latency>>)[name]
      return latency === undefined ? '-' : duration(latency.intended.p50)
    }),
    broadcastOf(step)?.toFixed(2) ?? '-',
    step.endCheck.ok === null ? '-' : step.endCheck.ok ? 'ok' : 'failed',
  ])
  return [
    ...(report.interrupted
      ? [`Interrupted at ${of}=${steps.at(-1)!.value}: the steps that follow are missing`, '']
      : []),
    `${report.workload.name}, swept over ${of}; ${loopOf(report)}; ${counted(report.workload.records, 'record', whole)}${keyOf(report)}`,
    table([
      [of, 'ops/s', 'errors', 'p50', 'p99', ...classes.map((name) => `${name} p50`), 'broadcast/targeted', 'end check'],
      ...rows,
    ]),
    '',
    ...steps.flatMap(({ value, report: step }) =>
      step.errors.total === 0
        ? []
        : [
            `  ${of}=${value}: ${Object.entries(step.errors.byCode)
              .map(([code, by]) => `${code} in ${Object.keys(by).join(', ')}`)
              .join('; ')}`,
          ],
    ),
    ...steps.flatMap(({ value, report: step }) =>
      step.notBegun === 0 ? [] : [`  ${of}=${value}: ${notBegunSentence(step)}`],
    ),
    ...steps.flatMap(({ value, report: step }) => lostSentences(step).map((each) => `  ${of}=${value}: ${each}`)),
    `Measured: ${report.measured.server}`,
    `  client: ${clientOf(steps[0]!.report)}`,
    ...notLearnedLines(report),
    `  ${report.measured.caveat}`,
  ].join('\n')
}

/** One sentence each, without a full stop. */
export function transactionLines({
  committed,
  aborts,
  retries,
  commitLatencyUs,
  commitPaths,
}: TransactionsReport): string[] {
  const listed = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${whole(count)}`)
      .join(', ')
  return [
    `${whole(committed)} committed; ${counted(aborts.total, 'run', whole)} aborted${
      aborts.total === 0
        ? ''
        : ` (${Object.entries(aborts.byCode)
            .map(([code, count]) => `${code}: ${whole(count)}`)
            .join(', ')})`
    }, ${whole(retries)} run again`,
    ...(commitLatencyUs === null
      ? []
      : [
          `commit: p50 ${duration(commitLatencyUs.p50)}, p99 ${duration(commitLatencyUs.p99)}, max ${duration(commitLatencyUs.max)}`,
        ]),
    ...(commitPaths === null ? [] : [`commit paths: ${listed(commitPaths) || 'none'}`]),
  ]
}

const clientOf = ({ measured: { id, client, engine, threads, startedAt } }: LoadReport): string =>
  `${client.cores} × ${client.cpu}, ${client.platform}, Node.js ${client.node}, engine ${engine}, ${threads === 0 ? 'no threads' : counted(threads, 'thread')}, run ${id} at ${startedAt}`

const notLearnedLines = ({ measured }: LoadReport): string[] =>
  measured.notLearned.map((sentence) => `  not learned: ${sentence}`)

export const notBegunSentence = ({ notBegun }: LoadReport): string =>
  `${counted(notBegun, 'operation', whole)} ${notBegun === 1 ? 'was' : 'were'} due but did not start before the end: the rate was not kept, and the waiting time is in no latency`

/** One for each generator that died, without a full stop. */
export function lostSentences({ measured: { lostGenerators, threads } }: LoadReport): string[] {
  return lostGenerators.map(({ generator, atSecs, operations, errors, isReplaced, why }) => {
    const missing = `${counted(operations, 'operation', whole)} with ${counted(errors, 'error', whole)}`
    const then = isReplaced ? 'another one continued its part' : 'its part ended there'
    return `generator ${generator} of ${threads} was lost at ${atSecs.toFixed(1)} s (${why}), and ${then}: at least ${missing} are missing in all figures`
  })
}

/** Median broadcast latency divided by the median of targeted operations; null: one is missing. */
export function broadcastOf({ latencyUs }: LoadReport): number | null {
  const { broadcast, targeted } = latencyUs.byRoutingClass
  if (broadcast === undefined || targeted === undefined || targeted.service.p50 === 0 || broadcast.service.p50 === 0)
    return null
  return broadcast.service.p50 / targeted.service.p50
}

/** `10.0 s`, `10.0 to 15.0 s`. */
export const markTime = ({ atSecs, untilSecs }: Mark): string =>
  `${atSecs.toFixed(1)}${untilSecs === null ? '' : ` to ${untilSecs.toFixed(1)}`} s`

export function checkLine({ endCheck }: LoadReport): string {
  if (endCheck.ok === null) return `End check: ${endCheck.leftOut ?? 'none'}`
  const { documents, unknownOutcomes } = endCheck
  if (endCheck.ok)
    return `End check: every acknowledged write is there (${counted(documents, 'document', whole)} read back, ${counted(unknownOutcomes, 'write', whole)} of unknown outcome)`
  const { lost, unexpected, doubled, stale, corrupt, torn, wrongReads } = endCheck
  const found = Object.entries({ lost, unexpected, doubled, stale, corrupt, torn, 'wrong reads': wrongReads }).filter(
    ([, count]) => count > 0,
  )
  return `End check failed: ${found.length === 0 ? 'nothing could be read' : found.map(([name, count]) => `${whole(count)} ${name}`).join(', ')}`
}

/** The swept quantity is shown per step, not here; phases are shown separately. */
export function loopOf({ workload, sweep }: LoadReport): string {
  const shown = (ramp: Ramp, unit: (value: number) => string): string =>
    typeof ramp === 'number' ? unit(ramp) : `${unit(ramp.from)} to ${unit(ramp.to)}`
  const pipeline = workload.pipeline > 1 ? `, ${workload.pipeline} on a connection` : ''
  const told = ({ rate, concurrency }: Pick<WorkloadReport, 'rate' | 'concurrency'>): string => {
    const inFlight =
      sweep?.of === 'concurrency' ? 'as many in flight as the step says' : `${shown(concurrency, whole)} in flight`
    if (rate === null) return `closed loop, ${inFlight}${pipeline}`
    return `open loop, ${sweep?.of === 'rate' ? 'as many a second as the step says' : `${shown(rate, perSecond)} a second`}, at most ${inFlight}${pipeline}`
  }
  const { phases } = workload
  return phases === null ? told(workload) : phases.map((phase) => `${phase.name}: ${told(phase)}`).join('; ')
}

export function topologyOf({ measured }: LoadReport): string {
  return measured.topology === 'sharded'
    ? `${counted(measured.shards, 'shard')}, ${measured.mongoses} mongos`
    : measured.topology
}
