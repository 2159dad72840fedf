import { counted } from '@shardlab/quantities'
import { table } from '@shardlab/load/basics'
import type { ScenarioFile } from '../file/parse.js'
import { bytesText, ratio, timeText, whole } from '../report/format.js'
import type { VariantResult, VariantRun } from '../types.js'
import { sweptName } from './seed-sweep.js'

interface Figure {
  readonly name: string
  /** null: the run does not have it. */
  readonly of: (result: VariantResult) => number | null
  readonly text: (value: number) => string
}

const figures: readonly Figure[] = [
  { name: 'bytes, largest / mean: worst', of: ({ imbalance }) => imbalance.worst, text: ratio },
  { name: 'bytes, largest / mean: end', of: ({ imbalance }) => imbalance.last, text: ratio },
  { name: 'migrations', of: ({ migrations }) => migrations.total, text: whole },
  { name: 'bytes moved', of: ({ bytesMoved }) => bytesMoved, text: bytesText },
  { name: 'converged after', of: ({ convergedAtMs }) => convergedAtMs, text: timeText },
  { name: 'failed operations', of: ({ operations }) => operations.failed, text: whole },
  {
    name: 'latency p99',
    of: ({ operations: { latencyMs, total } }) => (total === 0 ? null : (latencyMs?.p99 ?? null)),
    text: (ms) => `${whole(ms)} ms`,
  },
]

/**
 * The smallest, median and largest figures of each variant over its seeds.
 * @param file the scenario, without the sweep
 */
export function sweepText(file: ScenarioFile, seeds: readonly number[], runs: readonly VariantRun[]): string {
  const byName = new Map(runs.map(({ result }) => [result.name, result]))
  const parts = file.variants.map(({ name }) => {
    const results = seeds.flatMap((seed) => byName.get(sweptName(name, seed)) ?? [])
    return `${name}, ${counted(results.length, 'seed')}:\n${table([['', 'smallest', 'median', 'largest', 'runs'], ...rowsOf(results)])}\n`
  })
  const missing = file.variants.length * seeds.length - runs.length
  if (missing > 0) parts.push(`${counted(missing, 'run')} did not start.\n`)
  const interrupted = runs.filter((run) => run.interrupted === true).length
  if (interrupted > 0)
    parts.push(`${counted(interrupted, 'run')} ended early, and the figures cover the time until then.\n`)
  return parts.join('\n')
}

function rowsOf(results: readonly VariantResult[]): string[][] {
  return figures.flatMap(({ name, of, text }) => {
    const values = results
      .map(of)
      .filter((value) => value !== null)
      .sort((a, b) => a - b)
    if (values.length === 0) return []
    const shown = [values[0]!, values[Math.floor((values.length - 1) / 2)]!, values.at(-1)!]
    return [[name, ...shown.map(text), `${values.length}`]]
  })
}
