import { counted } from '@shardlab/quantities'
import { table } from '@shardlab/load/basics'
import type { ScenarioFile } from '../file/parse.js'
import { operationShare } from '../run/operation-share.js'
import { wallTimeMs } from '../run/wall-time.js'
import type { ShardResult, VariantResult, VariantRun } from '../types.js'
import { bytesText, clockText, percent, timeText, whole } from './format.js'
import { operationsText } from './operations-table.js'
import { shownRows } from './result-rows.js'

/** With more shards only both extremes are listed. */
const listedMax = 24

export function textReport(file: ScenarioFile, runs: readonly VariantRun[]): string {
  const results = runs.map(({ result }) => result)
  const rows = [
    ['', ...results.map(({ name }) => name)],
    ...shownRows(results).map(([name, of]) => [name, ...results.map(of)]),
  ]
  const parts = [file.shows === null ? '' : `${file.shows}\n\n`, `${table(rows, '')}\n`]
  parts.push(operationsText(results))
  const stopped = interruptions(file, runs)
  if (stopped.length > 0) parts.push(`\n${stopped.join('\n')}\n`)
  for (const sentence of obstacles(results)) parts.push(`\n${sentence}\n`)
  for (const run of runs) parts.push(shardsText(run, runs.length > 1))
  for (const { name, failedSteps } of results)
    for (const { atMs, step, error } of failedSteps)
      parts.push(`\n${name}: at ${timeText(atMs)} ${step} failed: ${error}`)
  const virtual = results.reduce((sum, { durationMs }) => sum + durationMs, 0)
  parts.push(`\n${timeText(virtual)} simulated in ${(wallTimeMs(runs) / 1000).toFixed(1)} s, seed ${file.seed}.\n`)
  return parts.join('')
}

/** Why shards stay uneven at the end. */
export function obstacles(results: readonly VariantResult[]): string[] {
  return results.flatMap(({ name, blocked }) => blocked.map((sentence) => `${name}: not converged. ${sentence}.`))
}

export function interruptions({ variants }: ScenarioFile, runs: readonly VariantRun[]): string[] {
  const stopped = runs.filter(({ interrupted }) => interrupted === true)
  return [
    ...stopped.map(({ result: { name, durationMs } }) => {
      const whole = variants.find((variant) => variant.name === name)!.duration
      return `${name} was interrupted after ${timeText(durationMs)} of ${timeText(whole)}; its expectations were not checked.`
    }),
    ...variants
      .filter(({ name }) => !runs.some(({ result }) => result.name === name))
      .map(({ name }) => `${name} was not started.`),
  ]
}

function shardsText({ result: { name, shards }, interrupted }: VariantRun, isOneOfMany: boolean): string {
  const all = Object.entries(shards)
  const left = all.length <= listedMax ? 0 : all.length - listedMax
  const listed = left === 0 ? all : extremes(all)
  const rows = listed.map(([id, shard]) => [
    shardName(id, shard),
    bytesText(shard.bytes),
    bytesText(shard.peak.bytes),
    bytesText(shard.peak.diskBytes),
    whole(shard.chunks),
    whole(shard.operations),
    percent(operationShare(shards, id)),
  ])
  const when = interrupted === true ? 'when it was interrupted' : 'at the end'
  const title = `\n${isOneOfMany ? `${name}, ${when}` : `${when[0]!.toUpperCase()}${when.slice(1)}`}:\n`
  const lines = table([['shard', 'bytes', 'at most', 'disk at most', 'chunks', 'operations', 'share'], ...rows]).split(
    '\n',
  )
  if (left > 0) lines.splice(1 + listedMax / 2, 0, `  … ${counted(left, 'more shard', whole)} …`)
  return `${title}${lines.join('\n')}\n`
}

/** With its state, if it is a special one. */
export function shardName(id: string, { draining, removed }: Pick<ShardResult, 'draining' | 'removed'>): string {
  return `${id}${removed ? ' (removed)' : draining ? ' (draining)' : ''}`
}

function extremes(shards: readonly (readonly [string, ShardResult])[]): readonly (readonly [string, ShardResult])[] {
  const sorted = shards.toSorted(([, a], [, b]) => b.bytes - a.bytes)
  return [...sorted.slice(0, listedMax / 2), ...sorted.slice(-listedMax / 2)]
}

export function decisionsText(runs: readonly VariantRun[]): string {
  return runs
    .map(({ result, decisions }) => {
      const lines = decisions.map(({ atMs, kind, text }) => `  ${clockText(atMs)}  ${kind.padEnd(11)}  ${text}`)
      return `\n${result.name}:\n${lines.length === 0 ? '  no decisions' : lines.join('\n')}\n`
    })
    .join('')
}
