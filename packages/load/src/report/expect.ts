/**
 * Thresholds: `p99<20ms`, `p99.9(read)<=50ms`, `errors==0`, `throughput>1000`,
 * `share(shard01)<40%`.
 */
import { OptionError } from '../option-error.js'
import { decodeHistogram } from '../run/histograms.js'
import { duration } from './format.js'
import { routingClasses, type Expectation, type Latency, type LoadReport } from '../types.js'

const operators: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
}
const timeUnitsUs: Readonly<Record<string, number>> = { us: 1, ms: 1000, s: 1e6 }
const counts = ['errors', 'operations', 'retries', 'throughput', 'errorRate', 'share'] as const

const grammar =
  /^\s*([a-zA-Z]+\d*(?:\.\d+)?)\s*(?:\(\s*([^()\s]+)\s*\))?\s*(<=|>=|==|!=|<|>)\s*(\d+(?:\.\d+)?)\s*(us|ms|s|%)?\s*$/

/** @throws OptionError for a text that is not an expectation */
export function parseExpectation(text: string): Expectation {
  const match = grammar.exec(text)
  const wrong = (why: string): OptionError => new OptionError(`the expectation "${text}" ${why}`)
  if (match === null) throw wrong('is not understood: write it as in "p99<20ms", "p99.9(read)<=50ms" or "errors==0"')
  const [, metric, scope, operator, number, unit] = match
  const isCount = (counts as readonly string[]).includes(metric!)
  const percentile = /^p(\d+(?:\.\d+)?)$/.exec(metric!)?.[1]
  if (!isCount && !['min', 'mean', 'max'].includes(metric!) && (percentile === undefined || Number(percentile) > 100)) {
    throw wrong(`names ${metric}: there are p50 to p99.99, min, mean, max, ${counts.join(', ')}`)
  }
  if (!isCount && (unit === undefined || unit === '%')) throw wrong('needs a unit of time: us, ms or s')
  if (isCount && unit !== undefined && !(unit === '%' && ['share', 'errorRate'].includes(metric!)))
    throw wrong(`has a unit, ${unit}, that ${metric} has not`)
  const isShare = metric === 'share' || metric === 'errorRate'
  if (unit === '%' && Number(number) > 100) throw wrong('is above 100%')
  // Without its unit, 40% would be met by every run.
  if (isShare && unit === undefined && Number(number) > 1)
    throw wrong(`is always met or never: ${metric} is at most 1; write it as in "${metric}<40%" or "${metric}<0.4"`)
  if (scope !== undefined && (metric === 'retries' || metric === 'throughput'))
    throw wrong(`has a scope, which ${metric} has not`)
  const factor = unit === undefined ? 1 : unit === '%' ? 0.01 : timeUnitsUs[unit]!
  return { text, metric: metric!, scope: scope ?? null, operator: operator!, value: Number(number) * factor }
}

/**
 * One sentence per expectation that the report, or a step of its sweep, does not meet.
 * @throws OptionError for an unknown scope
 */
export function failedExpectations(report: LoadReport, expectations: readonly Expectation[]): string[] {
  const steps =
    report.sweep === null
      ? [{ name: '', report }]
      : report.sweep.steps.map(({ value, report: step }) => ({
          name: ` at ${report.sweep!.of}=${value}`,
          report: step,
        }))
  return expectations.flatMap((expectation) =>
    steps.flatMap(({ name, report: step }) => {
      const value = valueOf(step, expectation)
      if (value === null)
        return [`expected ${expectation.text}${name}, but there was no operation of that kind that succeeded`]
      if (operators[expectation.operator]!(value, expectation.value)) return []
      return [`expected ${expectation.text}${name}, but it is ${shown(expectation, value)}`]
    }),
  )
}

/**
 * Checks the scopes that are known before a run, which excludes shards.
 * @throws OptionError
 */
export function checkScopes(expectations: readonly Expectation[], operations: readonly string[]): void {
  const known: readonly string[] = [...operations, ...routingClasses]
  for (const { metric, scope, text } of expectations) {
    if (scope !== null && metric !== 'share' && !known.includes(scope))
      throw new OptionError(`the expectation "${text}" names ${scope}: there are ${known.join(', ')}`)
  }
}

/** null: a latency without operations. */
function valueOf(report: LoadReport, expectation: Expectation): number | null {
  const { metric, scope, text } = expectation
  if (metric === 'share') {
    const shares = Object.entries(report.perShard)
    if (scope === null) return Math.max(0, ...shares.map(([, { share }]) => share))
    const share = report.perShard[scope]?.share
    if (share === undefined)
      throw new OptionError(
        `the expectation "${text}" names ${scope}: there are the shards ${shares.map(([id]) => id).join(', ')}`,
      )
    return share
  }
  if (metric === 'retries') return report.retries
  if (metric === 'throughput') return report.throughput
  const latency = latencyOf(report, expectation)
  if (metric === 'errors') return latency?.errors ?? 0
  if (metric === 'operations') return latency?.count ?? 0
  if (latency === null || latency.count === 0) return metric === 'errorRate' ? 0 : null
  if (metric === 'errorRate') return latency.errors / latency.count
  if (latency.count === latency.errors) return null
  if (metric === 'min' || metric === 'mean' || metric === 'max') return latency.intended[metric]
  return decodeHistogram(latency.histogram).getValueAtPercentile(Number(metric.slice(1)))
}

/** null: no such operation ran. @throws OptionError for a scope that this workload cannot have */
function latencyOf({ latencyUs, workload }: LoadReport, expectation: Expectation): Latency | null {
  const { scope } = expectation
  if (scope === null) return latencyUs.all
  checkScopes([expectation], Object.keys(workload.mix))
  return latencyUs.byOperation[scope] ?? (latencyUs.byRoutingClass as Readonly<Record<string, Latency>>)[scope] ?? null
}

function shown({ metric }: Expectation, value: number): string {
  if (metric === 'share' || metric === 'errorRate') return `${(value * 100).toFixed(2)}%`
  return (counts as readonly string[]).includes(metric) ? String(value) : duration(value)
}
