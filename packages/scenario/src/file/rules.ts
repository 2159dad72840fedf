import { totalmem } from 'node:os'
import { OptionError, nameInTarget, parseFaultText } from '@shardlab/cluster'
import { parseFaultData } from '@shardlab/cluster/faults'
import { bytesText, short } from '../report/format.js'
import { applicationRules } from './application-rules.js'
import type { BrokenRule, Rule } from './broken-rule.js'
import { memberName } from './member-name.js'
import type { ScenarioSource, TimelineEntry } from './schema.js'

/** More operations would take a day or longer to play. */
const operationsMax = 1e8

export function brokenRule(scenario: ScenarioSource): BrokenRule | null {
  for (const rule of rules) {
    const broken = rule(scenario).next()
    if (broken.done !== true) return broken.value
  }
  return null
}

const rules: readonly Rule[] = [
  collectionsAreKnown,
  modesAreSupported,
  newKeysAreSupported,
  ...applicationRules,
  shardsAreKnown,
  timesAreInRange,
  faultsAreValid,
  commandsFailOrReply,
  ratesAreValid,
  documentsAndOperationsFit,
  windowsAreNotEmpty,
  expectationsCanBeMet,
]

function* collectionsAreKnown({ collections, data, workload, timeline }: ScenarioSource): Generator<BrokenRule, void> {
  const known = new Set<string>()
  for (const [i, { ns }] of collections.entries()) {
    if (known.has(ns)) yield { path: ['collections', i, 'ns'], message: `${ns} is listed twice` }
    known.add(ns)
  }
  const lists = { data, workload, timeline: timeline as readonly { readonly ns?: string }[] }
  for (const [name, list] of Object.entries(lists))
    for (const [i, { ns }] of list.entries())
      if (ns !== undefined && !known.has(ns))
        yield { path: [name, i, 'ns'], message: `${ns} is not one of the collections (${[...known].join(', ')})` }
}

/** Mode `metadata` supports only some shapes of collections. */
function* modesAreSupported({ collections }: ScenarioSource): Generator<BrokenRule, void> {
  for (const [i, { key, mode, sharded, numInitialChunks, splitAt }] of collections.entries()) {
    if (mode !== collections[0]!.mode)
      yield {
        path: ['collections', i, 'mode'],
        message: 'all collections of a scenario must have the same mode, documents or metadata',
      }
    const seen = new Set<number | string>()
    const repeated = splitAt.findIndex((value) => seen.size === seen.add(value).size)
    if (repeated >= 0)
      yield { path: ['collections', i, 'splitAt', repeated], message: `${String(splitAt[repeated])} is listed twice` }
    if (!sharded && splitAt.length > 0)
      yield { path: ['collections', i, 'splitAt'], message: 'is allowed only for a sharded collection' }
    if (numInitialChunks !== undefined && !Object.values(key).includes('hashed'))
      yield { path: ['collections', i, 'numInitialChunks'], message: 'is allowed only for a hashed key; use splitAt' }
    if (mode !== 'metadata') continue
    if (!sharded) yield { path: ['collections', i, 'sharded'], message: 'must be true in mode metadata' }
    if (Object.keys(key).length > 3)
      yield { path: ['collections', i, 'key'], message: 'must have at most three fields in mode metadata' }
    for (const [k, value] of splitAt.entries())
      if (typeof value !== 'number')
        yield { path: ['collections', i, 'splitAt', k], message: 'must be a number in mode metadata' }
  }
}

function* newKeysAreSupported({ collections, timeline }: ScenarioSource): Generator<BrokenRule, void> {
  for (const [i, entry] of timeline.entries()) {
    if (isFault(entry) || entry.do !== 'reshard') continue
    const { fields, mode } = collections.find(({ ns }) => ns === entry.ns)!
    const names = Object.keys(entry.key)
    if (mode === 'metadata' && names.length > 3)
      yield { path: ['timeline', i, 'key'], message: 'must have at most three fields in mode metadata' }
    const unknown = fields === undefined ? undefined : names.find((name) => !(name in fields) && name !== '_id')
    if (unknown !== undefined)
      yield {
        path: ['timeline', i, 'key'],
        message: `must use fields of the collection; ${unknown} is not one of ${Object.keys(fields!).join(', ')}`,
      }
  }
}

/** A shard added by the timeline has the name that it will get. */
function* shardsAreKnown({ cluster, collections, timeline }: ScenarioSource): Generator<BrokenRule, void> {
  const nameOf = (n: number) => `shard${String(n).padStart(2, '0')}`
  let count = cluster.shards
  const exists = (shard: string): boolean => Array.from({ length: count }, (_, i) => nameOf(i + 1)).includes(shard)
  const unknown = (shard: string): string =>
    `${shard} does not exist at that time; the shards are shard01 to ${nameOf(count)}`
  for (const [zone, shards] of Object.entries(cluster.zones))
    for (const [i, shard] of shards.entries())
      if (!exists(shard)) yield { path: ['cluster', 'zones', zone, i], message: unknown(shard) }
  for (const [i, { primary }] of collections.entries())
    if (primary !== undefined && !exists(primary))
      yield { path: ['collections', i, 'primary'], message: unknown(primary) }
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

function* timesAreInRange({ duration, workload, timeline, tick }: ScenarioSource): Generator<BrokenRule, void> {
  if (tick !== undefined && tick > duration) yield { path: ['tick'], message: 'is longer than the duration' }
  for (const [i, { from, to }] of workload.entries())
    if (from >= (to ?? duration)) yield { path: ['workload', i, 'from'], message: 'is not before its end' }
  for (const [i, { at }] of timeline.entries())
    if (at > duration) yield { path: ['timeline', i, 'at'], message: 'is after the end of the scenario' }
}

/** Of faults of links, besides members. */
const linkEnds: ReadonlySet<string> = new Set(['clients', 'shards', 'routers', 'members', 'everybody'])

function* faultsAreValid(scenario: ScenarioSource): Generator<BrokenRule, void> {
  for (const [i, entry] of scenario.timeline.entries()) {
    if (!isFault(entry)) continue
    let fault: Readonly<Record<string, unknown>>
    try {
      fault = parseFaultText(entry.do)
      parseFaultData(fault)
    } catch (error) {
      if (!(error instanceof OptionError)) throw error
      yield { path: ['timeline', i, 'do'], message: error.message }
      continue
    }
    const { target, link } = fault
    const { from, to } = (link ?? {}) as { readonly from?: unknown; readonly to?: unknown }
    const unknown =
      [target].find((name) => typeof name === 'string' && !isMember(scenario, nameInTarget(name))) ??
      [from, to].find(
        (name) => typeof name === 'string' && !linkEnds.has(name) && !isMember(scenario, nameInTarget(name)),
      )
    if (unknown !== undefined)
      yield {
        path: ['timeline', i, 'do'],
        message: `${String(unknown)} is not a member; members are ${memberNames(scenario)}`,
      }
  }
}

function* commandsFailOrReply({ timeline }: ScenarioSource): Generator<BrokenRule, void> {
  for (const [i, entry] of timeline.entries())
    if (entry.do === 'command' && 'fails' in entry && entry.fails !== undefined && entry.answers !== undefined)
      yield { path: ['timeline', i, 'answers'], message: 'fails and answers exclude each other' }
}

function* ratesAreValid({ workload, timeline }: ScenarioSource): Generator<BrokenRule, void> {
  const changes = timeline.map((entry) => (entry.do === 'workload' && 'rate' in entry ? entry : null))
  for (const [name, list] of Object.entries({ workload, timeline: changes }))
    for (const [i, entry] of list.entries()) {
      if (entry?.rate === undefined || typeof entry.rate === 'number') continue
      const { low, high, period } = entry.rate
      if (low > high) yield { path: [name, i, 'rate', 'low'], message: 'is greater than high' }
      if (period < 1000) yield { path: [name, i, 'rate', 'period'], message: 'must be at least 1s' }
    }
  for (const [i, change] of changes.entries()) {
    if (change === null) continue
    const named = workload.filter(
      ({ ns, name }) => ns === change.ns && (change.name === undefined || change.name === name),
    )
    if (named.length === 0)
      yield {
        path: ['timeline', i, change.name === undefined ? 'ns' : 'name'],
        message: `no workload of ${change.ns} matches`,
      }
  }
}

/** Documents must fit into this machine's memory, and every operation on them is played. */
function* documentsAndOperationsFit({
  collections,
  data,
  workload,
  duration,
}: ScenarioSource): Generator<BrokenRule, void> {
  for (const [i, { size, documentSize }] of data.entries())
    if (size < documentSize) yield { path: ['data', i, 'size'], message: 'is smaller than one document' }
  if (collections[0]!.mode === 'metadata') return
  const smaller = 'choose smaller numbers (the proportions matter), or mode: metadata'
  const bytes = data.reduce((sum, { size }) => sum + size, 0)
  if (bytes > totalmem())
    yield {
      path: ['data'],
      message: `has ${bytesText(bytes)} of documents, but this machine has ${bytesText(totalmem())} of memory: ${smaller}`,
    }
  for (const [i, { rate = 0, from, to = duration }] of workload.entries()) {
    const mean = typeof rate === 'number' ? rate : (rate.low + rate.high) / 2
    const operations = (mean * (Math.min(to, duration) - from)) / 1000
    if (operations > operationsMax)
      yield {
        path: ['workload', i, 'rate'],
        message: `gives ${short(operations)} operations, and each is simulated: ${smaller}`,
      }
  }
}

function* windowsAreNotEmpty({ timeline }: ScenarioSource): Generator<BrokenRule, void> {
  const minutes = (time: string): string => time.padStart(5, '0')
  for (const [i, entry] of timeline.entries())
    if (entry.do === 'balancerWindow' && 'start' in entry && minutes(entry.start) === minutes(entry.stop))
      yield { path: ['timeline', i, 'stop'], message: 'must differ from start' }
}

/** Refuses numbers that this scenario's result never has. */
function* expectationsCanBeMet(scenario: ScenarioSource): Generator<BrokenRule, void> {
  for (const [i, text] of scenario.expect.entries()) {
    const [, shard] = /^\s*shards\.([\w-]+)\./.exec(text) ?? []
    if (shard !== undefined && !(/^shard\d+$/.test(shard) && isMember(scenario, shard)))
      yield { path: ['expect', i], message: `the scenario never has a shard ${shard}` }
    if (scenario.collections[0]!.mode === 'metadata' && /^\s*operations\.latencyMs\./.test(text))
      yield { path: ['expect', i], message: 'mode metadata measures no latencies' }
  }
}

function memberNames({ cluster: { members } }: ScenarioSource): string {
  const ofSets = members === 1 ? 'shards (shard01)' : 'shards (shard01, with members shard01-1 and so on)'
  return `${ofSets}, mongoses (mongos01), config and balancer`
}

/** Includes members that the timeline adds at any time. */
function isMember(scenario: ScenarioSource, name: string): boolean {
  const { cluster, timeline } = scenario
  const [, set, member] = /^((?:shard\d+)|config)-([1-9])$/.exec(name) ?? []
  if (set !== undefined) return cluster.members > 1 && Number(member) <= cluster.members && isMember(scenario, set)
  const added = timeline.reduce(
    (sum, entry) => sum + (entry.do === 'addShard' && 'count' in entry ? entry.count : 0),
    0,
  )
  const [, role, number] = /^(shard|mongos)(\d{2,})$/.exec(memberName(name)) ?? []
  if (role === undefined) return name === 'config' || name === 'balancer'
  return Number(number) >= 1 && Number(number) <= (role === 'shard' ? cluster.shards + added : cluster.mongos)
}

export function isFault(entry: TimelineEntry): entry is Extract<TimelineEntry, { readonly fault: true }> {
  return 'fault' in entry
}
