/** Shortest cycles of dependencies. */
import type { Dependency, DependencyGraph, DependencyKind } from './dependency-graph.js'
import type { ListTransaction } from './history.js'

export type Cycle = readonly Dependency[]

export interface CycleRules {
  /** Kinds of the dependencies after the first one. */
  readonly kinds: ReadonlySet<DependencyKind>
  /** Whether no two `rw` may follow each other, also around the end of the cycle. */
  readonly isApart: boolean
  readonly allows: (dependency: Dependency) => boolean
}

interface Visit {
  readonly at: ListTransaction
  readonly by: Dependency
  readonly before: Visit | null
}

/** @returns null: none begins with this dependency */
export function cycleWith(graph: DependencyGraph, first: Dependency, rules: CycleRules): Cycle | null {
  const seen = new Map<ListTransaction, Set<boolean>>()
  const queue: Visit[] = [{ at: first.to, by: first, before: null }]
  for (const visit of queue) {
    const isAfterRw = visit.by.kind === 'rw'
    if (visit.at === first.from && !(rules.isApart && isAfterRw && first.kind === 'rw')) return pathTo(visit)
    const states = seen.get(visit.at) ?? new Set()
    // Without rules about neighbours the last kind does not matter.
    const state = rules.isApart && isAfterRw
    if (states.has(state)) continue
    seen.set(visit.at, states.add(state))
    for (const by of graph.from(visit.at))
      if (rules.kinds.has(by.kind) && rules.allows(by) && !(rules.isApart && isAfterRw && by.kind === 'rw'))
        queue.push({ at: by.to, by, before: visit })
  }
  return null
}

function pathTo(visit: Visit): Cycle {
  const path: Dependency[] = []
  for (let each: Visit | null = visit; each !== null; each = each.before) path.unshift(each.by)
  return path
}

/** The same cycle, whichever dependency comes first. */
export function cycleKey(cycle: Cycle): string {
  return cycle
    .map(({ kind, from }) => `${kind} ${from.name}`)
    .toSorted()
    .join()
}
