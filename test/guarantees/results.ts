import { readFileSync, writeFileSync } from 'node:fs'
import { anomalies, cellsOf, nameOf, runs, type Anomaly, type Cell, type Run } from './cells.js'
import type { Played } from './play.js'

const file = new URL('../../guarantees/results.json', import.meta.url)

/** For each cell the anomalies that were found, each with a seed that plays it. */
export type Results = Readonly<Record<string, Partial<Record<Anomaly, number>>>>

export function readGuarantees(): Results {
  return JSON.parse(readFileSync(file, 'utf8')) as Results
}

export function writeGuarantees(results: Results): void {
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
}

export const seedOf = (results: Results, cell: Cell, anomaly: Anomaly): number | undefined =>
  results[nameOf(cell)]?.[anomaly]

/** Seeds that play everything that was found in a run, the most useful ones first. */
export function seedsOf(results: Results, run: Run): number[] {
  const counts = new Map<number, number>()
  for (const cell of cellsOf(run))
    for (const seed of Object.values(results[nameOf(cell)] ?? {})) counts.set(seed, (counts.get(seed) ?? 0) + 1)
  return [...counts].sort(([a, m], [b, n]) => n - m || a - b).map(([seed]) => seed)
}

/** Few seeds that together have all anomalies: repeatedly the one that has most of the rest. */
export function resultsOf(played: ReadonlyMap<Run, ReadonlyMap<number, Played>>): Results {
  const results: Record<string, Partial<Record<Anomaly, number>>> = {}
  for (const run of runs) {
    const cells = cellsOf(run)
    const open = new Set<string>()
    const bySeed = [...(played.get(run) ?? [])]
    for (const [, found] of bySeed) found.forEach((each, i) => each.forEach((anomaly) => open.add(`${i} ${anomaly}`)))
    while (open.size > 0) {
      const ranked = bySeed.map(([seed, found]) => ({
        seed,
        has: found.flatMap((each, i) => each.map((anomaly) => ({ i, anomaly }))),
      }))
      const useful = ranked.map(({ seed, has }) => ({
        seed,
        has: has.filter(({ i, anomaly }) => open.has(`${i} ${anomaly}`)),
      }))
      const best = useful.reduce((a, b) => (b.has.length > a.has.length ? b : a))
      for (const { i, anomaly } of best.has) {
        ;(results[nameOf(cells[i]!)] ??= {})[anomaly] = best.seed
        open.delete(`${i} ${anomaly}`)
      }
    }
  }
  return inOrder(results)
}

function inOrder(results: Results): Results {
  return Object.fromEntries(
    runs.flatMap(cellsOf).flatMap((cell) => {
      const found = results[nameOf(cell)]
      if (found === undefined) return []
      return [
        [nameOf(cell), Object.fromEntries(anomalies.filter((a) => found[a] !== undefined).map((a) => [a, found[a]]))],
      ]
    }),
  )
}
