/** Which anomalies a history of lists has. */
import type { ListAnomaly, ListAnomalyKind } from './anomaly.js'
import { cycleKey, cycleWith, type Cycle, type CycleRules } from './cycles.js'
import { DependencyGraph, type Dependency, type DependencyKind } from './dependency-graph.js'
import type { ListHistory } from './history.js'
import { externalReads, Observations } from './observations.js'

export function listAnomalies(history: ListHistory): ListAnomaly[] {
  const observations = new Observations(history)
  const graph = new DependencyGraph(observations, history.final.keys())
  return [...observations.anomalies(), ...lostUpdates(observations), ...cyclicAnomalies(graph)]
}

/** A version that a transaction has read and replaced must be the one before. */
function lostUpdates(observations: Observations): ListAnomaly[] {
  return observations.committed.flatMap((transaction) =>
    externalReads(transaction).flatMap(({ key, values }): ListAnomaly[] => {
      const versions = observations.versions(key)
      const own = transaction.operations.find((operation) => operation.kind === 'append' && operation.key === key)
      if (own?.kind !== 'append' || !versions.includes(own.value)) return []
      const replaced = versions.slice(values.length, versions.indexOf(own.value))
      if (replaced.length === 0) return []
      const sentence = `${transaction.name} appended ${own.value} to list ${key} after reading [${values.join()}], but ${replaced.join()} came between`
      return [{ kind: 'lost update', sentence, keys: [key] }]
    }),
  )
}

interface CycleClass {
  readonly kind: ListAnomalyKind
  readonly first: DependencyKind
  readonly rest: readonly DependencyKind[]
  readonly isApart: boolean
}

/** The first one that a cycle fits is reported. */
const classes: readonly CycleClass[] = [
  { kind: 'dirty write', first: 'ww', rest: ['ww'], isApart: true },
  { kind: 'circular information flow', first: 'wr', rest: ['ww', 'wr'], isApart: true },
  { kind: 'read skew', first: 'rw', rest: ['ww', 'wr'], isApart: true },
  { kind: 'long fork', first: 'rw', rest: ['ww', 'wr', 'rw'], isApart: true },
  { kind: 'session order', first: 'session', rest: ['ww', 'wr', 'rw', 'session'], isApart: true },
  { kind: 'write skew', first: 'rw', rest: ['ww', 'wr', 'rw', 'session'], isApart: false },
]

/** Each shard selects its own time for some transactions: others may come between. */
const isOfOneTime = ({ kind, from }: Dependency): boolean => kind !== 'rw' || from.isSnapshot || keysOf(from) === 1

const keysOf = ({ operations }: Dependency['from']): number => new Set(operations.map(({ key }) => key)).size

function cyclicAnomalies(graph: DependencyGraph): ListAnomaly[] {
  const all = graph.all()
  const found: ListAnomaly[] = []
  const seen = new Set<string>()
  for (const { kind, first, rest, isApart } of classes) {
    const rules: CycleRules = { kinds: new Set(rest), isApart, allows: isApart ? isOfOneTime : () => true }
    for (const dependency of all) {
      if (dependency.kind !== first || !rules.allows(dependency)) continue
      const cycle = cycleWith(graph, dependency, rules)
      if (cycle === null || seen.has(cycleKey(cycle))) continue
      seen.add(cycleKey(cycle))
      found.push({ kind, sentence: textOf(cycle), keys: cycle.flatMap(({ key }) => key ?? []) })
    }
  }
  return found
}

function textOf(cycle: Cycle): string {
  const steps = cycle.map((dependency) => `${verbOf(dependency)} ${dependency.to.name}`)
  return `${cycle[0]!.from.name} ${steps.join(', which ')}`
}

function verbOf({ kind, key }: Dependency): string {
  switch (kind) {
    case 'ww':
      return `appended to list ${key} before`
    case 'wr':
      return `was read in list ${key} by`
    case 'rw':
      return `did not read in list ${key} the append of`
    case 'session':
      return 'came in its session before'
  }
}
