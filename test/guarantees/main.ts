/**
 * Searches for anomalies: `node test/dist/guarantees/main.js --seeds 20 [--write]`. Prints what the
 * manual excludes; `--write` stores the results.
 */
import { cellsOf, isExcluded, nameOf, runs, type Run } from './cells.js'
import { play, type Played } from './play.js'
import { resultsOf, writeGuarantees } from './results.js'

const args = process.argv.slice(2)
const seeds = Number(args[args.indexOf('--seeds') + 1] ?? 20)
const played = new Map<Run, Map<number, Played>>()
let excluded = 0
for (const run of runs) {
  const bySeed = new Map<number, Played>()
  played.set(run, bySeed)
  for (let seed = 1; seed <= seeds; seed++) {
    const found = await play(run, seed)
    bySeed.set(seed, found)
    cellsOf(run).forEach((cell, i) => {
      for (const anomaly of found[i]!)
        if (isExcluded(cell, anomaly)) {
          excluded++
          console.log(`excluded, but found: ${anomaly} in ${nameOf(cell)}, seed ${seed}`)
        }
    })
  }
  console.error(`w: ${run.writeConcern}, ${run.fault}: ${seeds} seeds played`)
}
if (args.includes('--write')) writeGuarantees(resultsOf(played))
console.log(`${runs.length * seeds} runs, ${excluded} anomalies that the manual excludes`)
