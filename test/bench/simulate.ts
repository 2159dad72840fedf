/**
 * Cost of simulated clusters with many shards and chunks: several sizes with the same number of
 * chunks per shard, first with empty chunks, then in mode `metadata`; and a month of an idle
 * cluster. `SHARDLAB_LONG=1` for the largest size and whole months.
 */
import { execFile } from 'node:child_process'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BenchResult } from './bench.js'
import { atLeast } from './goals.js'
import { exponent } from './exponent.js'
import { metadataRows } from './simulate-metadata.js'
import type { GrowthTask, QuietTask, SimulateResult, SimulateTask } from './simulate-run.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const growth: readonly GrowthTask[] = [
  { kind: 'growth', shards: 50, added: 5, chunks: 50_000 },
  { kind: 'growth', shards: 200, added: 20, chunks: 200_000 },
]
const month: QuietTask = { kind: 'quiet', shards: 12, days: isLong ? 30 : 1 }
/**
 * Most objects live as long as one message: in a small young generation many of them are copied
 * before they die.
 */
const nodeOptions = ['--max-semi-space-size=32', '--max-old-space-size=8192']

export async function measure(): Promise<BenchResult> {
  const rows: BenchResult['rows'][number][] = []
  const grown: (SimulateResult & GrowthTask)[] = []
  for (const task of growth) {
    const result = await runApart(task)
    grown.push({ ...task, ...result })
    const size = `${task.shards} + ${task.added} shards, ${task.chunks.toLocaleString('en')} chunks`
    rows.push(
      { name: size, value: seconds(result.wallMs) },
      { name: '  CPU time', value: seconds(result.startMs + result.chunksMs + result.runMs) },
      { name: '  start', value: seconds(result.startMs) },
      { name: '  chunks, each', value: `${((result.chunksMs * 1000) / task.chunks).toFixed(1)} µs` },
      {
        name: `  ${result.migrations.toLocaleString('en')} migrations, each`,
        value: `${(result.runMs / result.migrations).toFixed(2)} ms`,
      },
      { name: '  memory', value: `${(result.peakBytes / 1024 ** 2).toFixed(0)} MB` },
    )
  }
  rows.push(
    {
      name: 'CPU time of chunks grows with their number to the power of',
      value: exponent(
        grown,
        ({ chunks }) => chunks,
        ({ chunksMs }) => chunksMs,
      ),
    },
    {
      name: 'CPU time of migrations',
      value: exponent(
        grown,
        ({ migrations }) => migrations,
        ({ runMs }) => runMs,
      ),
    },
    {
      name: 'memory, with the number of chunks',
      value: exponent(
        grown,
        ({ chunks }) => chunks,
        ({ peakBytes }) => peakBytes,
      ),
    },
  )
  const { runMs, rounds, virtualMs } = await runApart(month)
  rows.push(
    {
      name: `${month.days} days of ${month.shards} idle shards`,
      value: `${Math.round(virtualMs / runMs).toLocaleString('en')} times`,
      ...atLeast(10_000, ' times', virtualMs / runMs),
    },
    { name: '  a balancer round, with everything until the next', value: `${((runMs * 1000) / rounds).toFixed(0)} µs` },
  )
  rows.push(...(await metadataRows(isLong)))
  return {
    title: 'simulate: shards are added to a simulated cluster until nothing moves; and an idle cluster',
    rows,
    note: `Figures of the emulator, not of MongoDB. The first line of each size is wall-clock time, the others are CPU time. One run. Node ${process.version}, ${cpus().length} cores.`,
  }
}

async function runApart(task: SimulateTask): Promise<SimulateResult> {
  const script = fileURLToPath(new URL('simulate-run.js', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [...nodeOptions, script, JSON.stringify(task)])
  return JSON.parse(stdout) as SimulateResult
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
