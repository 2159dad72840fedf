/** CSV tables (RFC 4180). Times in ms, sizes in bytes. */
import type { VariantResult, VariantRun } from '../types.js'

type Cell = string | number | boolean | null
type Row = Readonly<Record<string, Cell>>

/**
 * Files by name: `samples.csv` has a row per variant, instant and shard; `decisions.csv` one per
 * decision; `results.csv` one per variant with every number of its result, named by the path that
 * expectations use.
 */
export function csvFiles(runs: readonly VariantRun[]): ReadonlyMap<string, string> {
  return new Map([
    [
      'samples.csv',
      csv(
        ['variant', 'atMs', 'shard', 'bytes', 'orphans', 'chunks', 'operations', 'draining'],
        runs.flatMap(samplesOf),
      ),
    ],
    [
      'decisions.csv',
      csv(
        ['variant', 'atMs', 'kind', 'text'],
        runs.flatMap(({ result: { name }, decisions }) =>
          decisions.map(({ atMs, kind, text }): Row => ({ variant: name, atMs, kind, text })),
        ),
      ),
    ],
    ['results.csv', resultsCsv(runs.map(({ result }) => result))],
  ])
}

function samplesOf({ result: { name }, samples }: VariantRun): Row[] {
  return samples.flatMap(({ atMs, shards }) =>
    Object.entries(shards).map(([shard, { bytes, orphans, chunks, operations, draining }]): Row => ({
      variant: name,
      atMs,
      shard,
      bytes,
      orphans,
      chunks,
      operations,
      draining,
    })),
  )
}

/** Columns that a variant lacks, of shards and error codes, are empty. */
function resultsCsv(results: readonly VariantResult[]): string {
  const rows = results.map(({ failedExpectations, failedSteps, ...result }): Row => ({
    ...flat(result, ''),
    failedExpectations: failedExpectations.length,
    failedSteps: failedSteps.length,
  }))
  return csv([...new Set(rows.flatMap((row) => Object.keys(row)))], rows)
}

function flat(value: object, prefix: string): Record<string, Cell> {
  const cells: Record<string, Cell> = {}
  for (const [name, each] of Object.entries(value) as [string, Cell | object][]) {
    if (typeof each === 'object' && each !== null) Object.assign(cells, flat(each, `${prefix}${name}.`))
    else cells[`${prefix}${name}`] = each
  }
  return cells
}

function csv(columns: readonly string[], rows: readonly Row[]): string {
  const lines = rows.map((row) => columns.map((column) => cellText(row[column] ?? null)).join(','))
  return `${[columns.map(cellText).join(','), ...lines].join('\r\n')}\r\n`
}

function cellText(cell: Cell): string {
  const text = cell === null ? '' : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
