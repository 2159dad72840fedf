/**
 * Searches for anomalies: `node test/dist/guarantees/main.js --seeds 20 [--table NAME] [--write]`.
 * Prints what the manual excludes; `--write` stores the results. The tables are `concerns` and
 * `transactions`; by default it searches both.
 */
import { readGuarantees, resultsOf, writeGuarantees, type Results } from './results.js'
import type { Table } from './table.js'
import { concernsTable, transactionsTable } from './tables.js'

const args = process.argv.slice(2)
const optionOf = (name: string): string | undefined => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
const seeds = Number(optionOf('--seeds') ?? 20)
const only = optionOf('--table')
const before = readGuarantees()
let excluded = 0
let count = 0

async function search<R, C, A extends string>(table: Table<R, C, A>): Promise<Results> {
  const names = new Set(table.runs.flatMap((run) => table.cellsOf(run)).map((cell) => table.nameOf(cell)))
  if (only !== undefined && only !== table.name)
    return Object.fromEntries(Object.entries(before).filter(([name]) => names.has(name)))
  const played = new Map<R, Map<number, readonly (readonly A[])[]>>()
  for (const run of table.runs) {
    const bySeed = new Map<number, readonly (readonly A[])[]>()
    played.set(run, bySeed)
    for (let seed = 1; seed <= seeds; seed++) {
      const found = await table.play(run, seed)
      count++
      bySeed.set(seed, found)
      table.cellsOf(run).forEach((cell, i) => {
        for (const anomaly of found[i]!)
          if (table.isExcluded(cell, anomaly)) {
            excluded++
            console.log(`excluded, but found: ${anomaly} in ${table.nameOf(cell)}, seed ${seed}`)
          }
      })
    }
    console.error(`${table.titleOf(run)}: ${seeds} seeds played`)
  }
  return resultsOf(table, played)
}

const results = { ...(await search(concernsTable)), ...(await search(transactionsTable)) }
if (args.includes('--write')) writeGuarantees(results)
console.log(`${count} runs, ${excluded} anomalies that the manual excludes`)
