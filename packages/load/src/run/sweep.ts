import { OptionError } from '../option-error.js'
import type { LoadOptions, LoadReport } from '../types.js'
import { runOnce } from './run-once.js'
import { InterruptedError } from './stopping.js'

const swept = ['shards', 'mongos', 'concurrency', 'rate'] as const
export type Swept = (typeof swept)[number]

export interface Sweep {
  readonly of: Swept
  readonly values: readonly number[]
}

const stepsMax = 64

/**
 * Parses `shards=1..16` (doubling, 16 included), `rate=1000..5000:1000` (by steps) and
 * `mongos=1,2,4` (a list). @throws OptionError
 */
export function parseSweep(text: string): Sweep {
  const match = /^(\w+)=(?:(\d+)\.\.(\d+)(?::(\d+))?|(\d+(?:,\d+)*))$/.exec(text.replace(/\s/g, ''))
  const of = swept.find((name) => name === match?.[1])
  if (match === null || of === undefined) {
    throw new OptionError(
      `sweep is "${text}": write it as in "shards=1..16", "rate=1000..5000:1000" or "concurrency=1,8,64"; it takes ${swept.join(', ')}`,
    )
  }
  const values =
    match[5] === undefined
      ? between(Number(match[2]), Number(match[3]), match[4] === undefined ? null : Number(match[4]))
      : match[5].split(',').map(Number)
  if (values.length === 0 || values.some((value) => value < 1))
    throw new OptionError(`sweep is "${text}": values must be at least 1 and rise`)
  if (values.length > stepsMax) throw new OptionError(`sweep is "${text}": it must have at most ${stepsMax} steps`)
  return { of, values }
}

function between(from: number, to: number, by: number | null): number[] {
  if (from < 1 || to < from || by === 0) return []
  const values: number[] = []
  for (let value = from; value < to && values.length <= stepsMax; value = by === null ? value * 2 : value + by)
    values.push(value)
  return [...values, to]
}

/** Each thread needs at least one operation in flight. */
export function stepOf(options: LoadOptions, of: 'concurrency' | 'rate', value: number): LoadOptions {
  const threads =
    of === 'concurrency' && options.threads !== undefined ? { threads: Math.min(options.threads, value) } : {}
  return { ...options, ...threads, [of]: value }
}

/** Returns the last report, with all of them in `sweep`. */
export async function runSweep(options: LoadOptions, { of, values }: Sweep): Promise<LoadReport> {
  const ofCluster = of === 'shards' || of === 'mongos'
  if (ofCluster && options.startCluster === undefined) {
    throw new OptionError(`a sweep over ${of} starts its own clusters: give --up "" instead of --uri`)
  }
  const measure = async (i: number, value: number): Promise<LoadReport> => {
    const step = `${of}=${value}`
    // The first step created the collection, so later ones may drop it.
    if (!ofCluster) return runOnce({ ...stepOf(options, of, value), drop: i > 0 || (options.drop ?? false) }, step)
    const cluster = await options.startCluster!({ [of]: value })
    try {
      return await runOnce({ ...options, uri: cluster.uri }, step)
    } finally {
      await cluster.stop()
    }
  }
  const steps: { value: number; report: LoadReport }[] = []
  for (const [i, value] of values.entries()) {
    try {
      const report = await measure(i, value)
      steps.push({ value, report })
      if (report.interrupted) break
    } catch (error) {
      if (!(error instanceof InterruptedError) || steps.length === 0) throw error
      break
    }
  }
  const last = steps.at(-1)!.report
  return { ...last, interrupted: last.interrupted || steps.length < values.length, sweep: { of, steps } }
}
