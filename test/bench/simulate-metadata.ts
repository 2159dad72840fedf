/**
 * Scenarios in mode `metadata`: empty shards join full ones, in three sizes; and a month with a
 * daily load cycle.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BenchResult } from './bench.js'
import { atLeast, atMost } from './goals.js'
import { exponent } from './exponent.js'
import type { FloorResult, FloorTask } from './simulate-floor.js'
import type { ScenarioResult } from './simulate-scenario.js'

type Row = BenchResult['rows'][number]

/**
 * Chunks of 20 MB, too small to be checked for a split. At the end of the scenario nothing moves,
 * and all ranges are deleted, each 15 minutes after its move.
 */
const growth = (shards: number, added: number, chunks: number): string => `version: 1
emulate: "4.4"
cluster: { shards: ${shards}, chunkSize: 128MB }
collections: [{ ns: app.c, key: { k: hashed }, mode: metadata, numInitialChunks: ${chunks} }]
data: [{ ns: app.c, size: ${20 * chunks}MB, keys: { distribution: uniform } }]
timeline: [{ at: 1m, do: addShard, count: ${added} }]
duration: 35m
tick: 5m
`

const month = (days: number): string => `version: 1
cluster: { shards: 12, chunkSize: 128MB }
collections: [{ ns: app.c, key: { k: 1 }, mode: metadata, splitAt: [${Array.from({ length: 11 }, (_, i) => (i + 1) * 1_000_000).join(', ')}] }]
data: [{ ns: app.c, size: 600GB, keys: { distribution: uniform, cardinality: 12000000 } }]
workload:
  - ns: app.c
    rate: { low: 50/s, high: 500/s }
    mix: { insert: 0.2, findByKey: 0.7, findOther: 0.1 }
    keys: { distribution: monotonic }
duration: ${days}d
`

export async function metadataRows(isLong: boolean): Promise<Row[]> {
  const rows: Row[] = []
  const played: (ScenarioResult & { readonly chunks: number })[] = []
  const sizes = [
    [50, 5, 50_000],
    [200, 20, 200_000],
    [1000, 100, 1_000_000],
  ] as const
  for (const [shards, added, chunks] of isLong ? sizes : sizes.slice(0, 1)) {
    const isGoal = chunks === 1_000_000
    const result = await play(growth(shards, added, chunks))
    const { wallMs, processorMs, migrations, convergedAtMs, peakBytes } = result
    played.push({ ...result, chunks })
    if (convergedAtMs === null) throw new Error(`${shards} + ${added} shards have not converged`)
    rows.push(
      {
        name: `metadata: ${shards} + ${added} shards, ${chunks.toLocaleString('en')} chunks of 20 MB`,
        value: `${(wallMs / 1000).toFixed(1)} s`,
        ...(isGoal ? atMost(45, ' s', wallMs / 1000) : {}),
      },
      { name: '  CPU time', value: `${(processorMs / 1000).toFixed(1)} s` },
      {
        name: `  ${migrations.toLocaleString('en')} migrations, whole scenario per migration`,
        value: `${(processorMs / migrations).toFixed(2)} ms`,
      },
      {
        name: '  memory',
        value: `${(peakBytes / 1024 ** 2).toFixed(0)} MB`,
        ...(isGoal ? atMost(1536, ' MB', peakBytes / 1024 ** 2) : {}),
      },
    )
  }
  if (played.length > 1)
    rows.push({
      name: 'metadata: CPU time grows with the number of chunks to the power of',
      value: exponent(
        played,
        ({ chunks }) => chunks,
        ({ processorMs }) => processorMs,
      ),
    })
  rows.push(...(await floorRows()))
  const days = isLong ? 30 : 2
  const { wallMs, processorMs, virtualMs, migrations } = await play(month(days))
  rows.push({
    name: `metadata: ${days} days of 12 shards with a daily load, ${migrations.toLocaleString('en')} migrations`,
    value: `${Math.round(virtualMs / wallMs).toLocaleString('en')} times`,
    ...atLeast(10_000, ' times', virtualMs / wallMs),
  })
  rows.push({ name: '  by CPU time', value: `${Math.round(virtualMs / processorMs).toLocaleString('en')} times` })
  return rows
}

/**
 * A migration is 17 requests with their answers and 17 log entries. Only their cost is measured,
 * and extrapolated to the largest size.
 */
const exchangesOfMigration = 17
const largestMigrations = 90_900

async function floorRows(): Promise<Row[]> {
  const rows: Row[] = []
  let exchangeMicros = 0
  for (const members of [10, 1100]) {
    const task: FloorTask = { members, atOnce: Math.min(members, 100), exchanges: 300_000 }
    exchangeMicros = (
      (await apart('simulate-floor.js', JSON.stringify(task), ['--max-semi-space-size=64'])) as FloorResult
    ).exchangeMicros
    rows.push({
      name: `a request that only writes a change to a log: ${members.toLocaleString('en')} members`,
      value: `${exchangeMicros.toFixed(1)} µs`,
    })
  }
  const floorSecs = (exchangeMicros * exchangesOfMigration * largestMigrations) / 1e6
  rows.push({
    name: `  ${exchangesOfMigration} of them for each of ${largestMigrations.toLocaleString('en')} migrations`,
    value: `${floorSecs.toFixed(1)} s`,
  })
  return rows
}

async function play(text: string): Promise<ScenarioResult> {
  return (await apart('simulate-scenario.js', text)) as ScenarioResult
}

async function apart(name: string, argument: string, nodeOptions: readonly string[] = []): Promise<unknown> {
  const script = fileURLToPath(new URL(name, import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [...nodeOptions, script, argument])
  return JSON.parse(stdout)
}
