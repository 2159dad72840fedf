import { z } from 'zod'
import { OptionError } from '../option-error.js'
import type { Latency, LoadReport } from '../types.js'
import { duration, table, whole } from './format.js'

/** @throws OptionError if the text is not a report */
export function parseReport(json: string, path: string): LoadReport {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw new OptionError(`${path} is not JSON`)
  }
  if ((value as LoadReport | null)?.shardlabLoad !== 1)
    throw new OptionError(`${path} is not a report of shardlab load`)
  const issue = compared.safeParse(value).error?.issues[0]
  if (issue !== undefined)
    throw new OptionError(`${path} is not a whole report: ${issue.path.map(String).join('.')} is not as it should be`)
  return value as LoadReport
}

const latency = z.object({ intended: z.object({ p50: z.number(), p99: z.number(), p999: z.number() }) })
const latencies = z.record(z.string(), latency)
/** Only the parts that a comparison reads. */
const compared = z.object({
  measured: z.object({ server: z.string(), client: z.object({}) }),
  workload: z.object({}),
  errors: z.object({ total: z.number() }),
  throughput: z.number(),
  latencyUs: z.object({ all: latency, byOperation: latencies, byRoutingClass: latencies }),
  perShard: z.record(z.string(), z.object({ share: z.number() })),
  endCheck: z.object({ ok: z.boolean().nullable() }),
  get sweep(): z.ZodType {
    return z.object({ of: z.string(), steps: z.array(z.object({ value: z.number(), report: compared })) }).nullable()
  },
})

/**
 * Differences of run b from run a; for two sweeps, step by step.
 * @throws OptionError for a sweep and a single run
 */
export function compareReports(a: LoadReport, b: LoadReport, names: readonly [string, string]): string {
  if (a.sweep === null && b.sweep === null) return comparedRuns(a, b, names)
  if (a.sweep?.of !== b.sweep?.of) {
    const [of, ofOther] = [a, b].map(({ sweep }) => (sweep === null ? 'one measurement' : `a sweep over ${sweep.of}`))
    throw new OptionError(`${names[0]} is ${of}, ${names[1]} ${ofOther}: there is nothing to compare`)
  }
  const { of, steps } = a.sweep!
  const parts = steps.flatMap(({ value, report }) => {
    const other = b.sweep!.steps.find((step) => step.value === value)
    return other === undefined ? [] : [`${of}=${value}\n${comparedRuns(report, other.report, names)}`]
  })
  if (parts.length === 0) throw new OptionError(`${names[0]} and ${names[1]} have no value of ${of} in common`)
  return parts.join('\n')
}

function comparedRuns(a: LoadReport, b: LoadReport, names: readonly [string, string]): string {
  const rows: string[][] = [['', 'a', 'b', 'b / a']]
  const row = (
    name: string,
    of: (report: LoadReport) => number | undefined,
    shown: (value: number) => string,
  ): void => {
    const [x, y] = [of(a), of(b)]
    if (x === undefined && y === undefined) return
    const ratio = x === undefined || y === undefined || x === 0 ? '-' : (y / x).toFixed(2)
    rows.push([name, x === undefined ? '-' : shown(x), y === undefined ? '-' : shown(y), ratio])
  }
  row('throughput, 1/s', ({ throughput }) => throughput, whole)
  row('errors', ({ errors }) => errors.total, whole)
  const latencies = (name: string, of: (report: LoadReport) => Latency | undefined): void => {
    for (const percentile of ['p50', 'p99', 'p999'] as const) {
      row(`${name} ${percentile.replace('p999', 'p99.9')}`, (report) => of(report)?.intended[percentile], duration)
    }
  }
  latencies('all', ({ latencyUs }) => latencyUs.all)
  for (const by of ['byOperation', 'byRoutingClass'] as const) {
    const of = ({ latencyUs }: LoadReport): Readonly<Record<string, Latency>> => latencyUs[by]
    for (const name of new Set([...Object.keys(of(a)), ...Object.keys(of(b))]))
      latencies(name, (report) => of(report)[name])
  }
  for (const id of new Set([...Object.keys(a.perShard), ...Object.keys(b.perShard)])) {
    row(
      `share of ${id}`,
      (report) => report.perShard[id]?.share,
      (share) => `${(share * 100).toFixed(1)}%`,
    )
  }
  const differences = differencesOf(a, b)
  const ends = [a, b].map(({ interrupted }) => (interrupted ? ', interrupted' : ''))
  const checks = [a, b].map(({ endCheck }) =>
    endCheck.ok === null ? 'not checked' : endCheck.ok ? 'checked' : 'check failed',
  )
  return [
    `a: ${names[0]}, ${a.measured.server}, ${checks[0]}${ends[0]}`,
    `b: ${names[1]}, ${b.measured.server}, ${checks[1]}${ends[1]}`,
    table(rows),
    ...(differences.length === 0 ? [] : [`The runs differ in ${differences.join(', ')}: keep that in mind.`]),
    '',
  ].join('\n')
}

function differencesOf(a: LoadReport, b: LoadReport): string[] {
  const parts: Readonly<Record<string, (report: LoadReport) => unknown>> = {
    workload: ({ workload }) => workload.name,
    'shard key': ({ workload }) => workload.shardKey,
    records: ({ workload }) => workload.records,
    loop: ({ workload }) => [workload.loop, workload.rate, workload.concurrency, workload.pipeline],
    server: ({ measured }) => measured.server,
    topology: ({ measured }) => [measured.topology, measured.shards, measured.mongoses],
    engine: ({ measured }) => [measured.engine, measured.threads],
    machine: ({ measured }) => [measured.client.cpu, measured.client.cores],
  }
  return Object.entries(parts).flatMap(([name, of]) => (JSON.stringify(of(a)) === JSON.stringify(of(b)) ? [] : [name]))
}
