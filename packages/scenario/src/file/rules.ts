/** Rules between the parts of a scenario. */
import { OptionError, parseFaultText } from '@shardlab/cluster'
import type { ScenarioSource, TimelineEntry } from './schema.js'

export interface BrokenRule {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** @returns the first rule that a scenario breaks; null: it breaks none */
export function brokenRule(scenario: ScenarioSource): BrokenRule | null {
  for (const rule of rules) {
    const broken = rule(scenario).next()
    if (broken.done !== true) return broken.value
  }
  return null
}

type Rule = (scenario: ScenarioSource) => Generator<BrokenRule, void>

const rules: readonly Rule[] = [
  collectionsAreKnown,
  sizesGoTogether,
  keysFitTheirCollection,
  shardsAreKnown,
  timesAreWithin,
  faultsAreUnderstood,
  commandsFailOrAnswer,
]

function* collectionsAreKnown({ collections, data, workload, timeline }: ScenarioSource): Generator<BrokenRule, void> {
  const known = new Set<string>()
  for (const [i, { ns }] of collections.entries()) {
    if (known.has(ns)) yield { path: ['collections', i, 'ns'], message: `${ns} is there twice` }
    known.add(ns)
  }
  const lists = { data, workload, timeline: timeline as readonly { readonly ns?: string }[] }
  for (const [name, list] of Object.entries(lists))
    for (const [i, { ns }] of list.entries())
      if (ns !== undefined && !known.has(ns))
        yield { path: [name, i, 'ns'], message: `${ns} is not among the collections, ${[...known].join(', ')}` }
}

/** What mode `metadata` can tell the sizes of. */
function* sizesGoTogether({ collections }: ScenarioSource): Generator<BrokenRule, void> {
  for (const [i, { key, mode, sharded, numInitialChunks, splitAt }] of collections.entries()) {
    if (mode !== collections[0]!.mode)
      yield { path: ['collections', i, 'mode'], message: 'all collections of a scenario have one mode: documents or metadata' }
    if (numInitialChunks !== undefined && !Object.values(key).includes('hashed'))
      yield { path: ['collections', i, 'numInitialChunks'], message: 'goes only with a hashed key: use splitAt' }
    if (mode !== 'metadata') continue
    if (!sharded) yield { path: ['collections', i, 'sharded'], message: 'in mode metadata collections are sharded' }
    if (Object.keys(key).length > 2) yield { path: ['collections', i, 'key'], message: 'has at most two fields in mode metadata' }
    for (const [k, value] of splitAt.entries())
      if (typeof value !== 'number') yield { path: ['collections', i, 'splitAt', k], message: 'is a number in mode metadata' }
  }
}

function* keysFitTheirCollection({ collections, data, workload }: ScenarioSource): Generator<BrokenRule, void> {
  for (const [name, list] of Object.entries({ data, workload }))
    for (const [i, { ns, keys }] of list.entries()) {
      const key = collections.find((collection) => collection.ns === ns)!.key
      if (Object.keys(key)[0] !== '_id') continue
      const fits =
        keys.distribution === 'monotonic' ||
        keys.distribution === 'latest' ||
        (keys.distribution === 'uniform' && keys.cardinality === undefined)
      if (!fits) yield { path: [name, i, 'keys'], message: 'an _id cannot repeat: use monotonic, latest or uniform without cardinality' }
    }
}

/** Also: that a shard which the timeline adds has the name that it gets. */
function* shardsAreKnown({ cluster, collections, timeline }: ScenarioSource): Generator<BrokenRule, void> {
  const nameOf = (n: number) => `shard${String(n).padStart(2, '0')}`
  let count = cluster.shards
  const exists = (shard: string): boolean => Array.from({ length: count }, (_, i) => nameOf(i + 1)).includes(shard)
  const unknown = (shard: string): string => `${shard} is not a shard by then; there are shard01 to ${nameOf(count)}`
  for (const [zone, shards] of Object.entries(cluster.zones))
    for (const [i, shard] of shards.entries()) if (!exists(shard)) yield { path: ['cluster', 'zones', zone, i], message: unknown(shard) }
  for (const [i, { primary }] of collections.entries())
    if (primary !== undefined && !exists(primary)) yield { path: ['collections', i, 'primary'], message: unknown(primary) }
  const inOrder = [...timeline.entries()].sort(([, a], [, b]) => a.at - b.at)
  for (const [i, entry] of inOrder) {
    if (entry.do === 'addShard' && !isFault(entry)) {
      if (entry.shard !== undefined && entry.shard !== nameOf(count + 1))
        yield { path: ['timeline', i, 'shard'], message: `the next shard is ${nameOf(count + 1)}` }
      count += entry.count
    } else if ('shard' in entry && entry.shard !== undefined && !exists(entry.shard))
      yield { path: ['timeline', i, 'shard'], message: unknown(entry.shard) }
  }
}

function* timesAreWithin({ duration, workload, timeline, tick }: ScenarioSource): Generator<BrokenRule, void> {
  if (tick !== undefined && tick > duration) yield { path: ['tick'], message: 'is longer than the duration' }
  for (const [i, { from, to }] of workload.entries())
    if (from >= (to ?? duration)) yield { path: ['workload', i, 'from'], message: 'is not before its end' }
  for (const [i, { at }] of timeline.entries()) if (at > duration) yield { path: ['timeline', i, 'at'], message: 'is behind the end' }
}

function* faultsAreUnderstood(scenario: ScenarioSource): Generator<BrokenRule, void> {
  for (const [i, entry] of scenario.timeline.entries()) {
    if (!isFault(entry)) continue
    let fault: Readonly<Record<string, unknown>>
    try {
      fault = parseFaultText(entry.do)
    } catch (error) {
      if (!(error instanceof OptionError)) throw error
      yield { path: ['timeline', i, 'do'], message: error.message }
      continue
    }
    const { target } = fault
    if (typeof target === 'string' && !isMember(scenario, target))
      yield { path: ['timeline', i, 'do'], message: `${target} is not a member; there are shards, mongoses (mongos01) and config` }
  }
}

function* commandsFailOrAnswer({ timeline }: ScenarioSource): Generator<BrokenRule, void> {
  for (const [i, entry] of timeline.entries())
    if (entry.do === 'command' && 'fails' in entry && entry.fails !== undefined && entry.answers !== undefined)
      yield { path: ['timeline', i, 'answers'], message: 'a command either fails or answers' }
}

/** Members that the timeline adds among them, whenever it does. */
function isMember({ cluster, timeline }: ScenarioSource, name: string): boolean {
  const added = timeline.reduce((sum, entry) => sum + (entry.do === 'addShard' && 'count' in entry ? entry.count : 0), 0)
  const [, role, number] = /^(shard|mongos)(\d{2,})$/.exec(name) ?? []
  if (role === undefined) return name === 'config' || name === 'balancer'
  return Number(number) >= 1 && Number(number) <= (role === 'shard' ? cluster.shards + added : cluster.mongos)
}

export function isFault(entry: TimelineEntry): entry is Extract<TimelineEntry, { readonly fault: true }> {
  return 'fault' in entry
}
