/** Coverage of all runs together: a swarm that never passes a step says nothing about it. */
import { coveredNames, allCounted } from './coverage-counter.js'
import type { Counts, Coverage, SwarmRun } from './types.js'

/** With this many runs every name must be reached this often. */
export const coverageRuns = 500
const leastOfMany = 20

export function coverageOf(runs: readonly SwarmRun[]): Coverage {
  const steps = summed(runs.map((run) => run.steps))
  const verbs = summed(runs.map((run) => run.verbs))
  const least = runs.length >= coverageRuns ? leastOfMany : 1
  const all = { steps: allCounted(steps, coveredNames.steps), verbs: allCounted(verbs, coveredNames.verbs) }
  const missing = [...Object.entries(all.steps), ...Object.entries(all.verbs)]
    .filter(([, count]) => count < least)
    .map(([name]) => name)
  return { ...all, missing, least }
}

function summed(all: readonly Counts[]): ReadonlyMap<string, number> {
  const sum = new Map<string, number>()
  for (const counts of all)
    for (const [name, count] of Object.entries(counts)) sum.set(name, (sum.get(name) ?? 0) + count)
  return sum
}
