import { readFileSync, writeFileSync } from 'node:fs'
import type { Table } from './table.js'

const file = new URL('../../guarantees/results.json', import.meta.url)

/** For each cell, by name, the anomalies that were found, each with a seed that plays it. */
export type Results = Readonly<Record<string, Readonly<Record<string, number>>>>

type Played<A> = readonly (readonly A[])[]

export function readGuarantees(): Results {
  return JSON.parse(readFileSync(file, 'utf8')) as Results
}

export function writeGuarantees(results: Results): void {
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
}

export const seedOf = (results: Results, cell: string, anomaly: string): number | undefined => results[cell]?.[anomaly]

/** Seeds that play everything that was found in a run, the most useful ones first. */
export function seedsOf<R, C, A extends string>(
  { cellsOf, nameOf }: Table<R, C, A>,
  results: Results,
  run: R,
): number[] {
  const counts = new Map<number, number>()
  for (const cell of cellsOf(run))
    for (const seed of Object.values(results[nameOf(cell)] ?? {})) counts.set(seed, (counts.get(seed) ?? 0) + 1)
  return [...counts].sort(([a, m], [b, n]) => n - m || a - b).map(([seed]) => seed)
}

/** Few seeds that together have all anomalies: repeatedly the one that has most of the rest. */
export function resultsOf<R, C, A extends string>(
  { runs, cellsOf, nameOf, anomalies }: Table<R, C, A>,
  played: ReadonlyMap<R, ReadonlyMap<number, Played<A>>>,
): Results {
  const results: Record<string, Record<string, number>> = {}
  for (const run of runs) {
    const cells = cellsOf(run)
    const open = new Set<string>()
    const bySeed = [...(played.get(run) ?? [])].map(([seed, found]) => ({
      seed,
      has: found.flatMap((each, i) => each.map((anomaly) => ({ name: nameOf(cells[i]!), anomaly }))),
    }))
    for (const { has } of bySeed) for (const { name, anomaly } of has) open.add(`${name} ${anomaly}`)
    while (open.size > 0) {
      const useful = bySeed.map(({ seed, has }) => ({
        seed,
        has: has.filter(({ name, anomaly }) => open.has(`${name} ${anomaly}`)),
      }))
      const best = useful.reduce((a, b) => (b.has.length > a.has.length ? b : a))
      for (const { name, anomaly } of best.has) {
        ;(results[name] ??= {})[anomaly] = best.seed
        open.delete(`${name} ${anomaly}`)
      }
    }
  }
  return inOrder(runs.flatMap(cellsOf).map(nameOf), anomalies, results)
}

function inOrder(names: readonly string[], anomalies: readonly string[], results: Results): Results {
  return Object.fromEntries(
    names.flatMap((name) => {
      const found = results[name]
      if (found === undefined) return []
      return [[name, Object.fromEntries(anomalies.filter((a) => found[a] !== undefined).map((a) => [a, found[a]!]))]]
    }),
  )
}
