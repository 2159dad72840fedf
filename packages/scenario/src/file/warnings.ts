/** Settings that have no effect. */
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import { distributionsOf, hotCount, inserts } from './application-rules.js'
import type { BrokenRule } from './broken-rule.js'
import type { ScenarioSource } from './schema.js'

export function* settingsWithoutEffect(scenario: ScenarioSource): Generator<BrokenRule, void> {
  const { cluster, collections, workload, timeline, emulate } = scenario
  for (const [path, keys] of distributionsOf(scenario))
    if (keys.distribution === 'hotspot' && hotCount(keys) === keys.cardinality)
      yield {
        path: [...path, 'shareOfOperations'],
        message: `has no effect: all ${keys.cardinality} keys are hot, so operations are even; hotKeys is their number, shareOfKeys their share`,
      }
  for (const [i, entry] of workload.entries()) {
    const without = (setting: string, because: string): BrokenRule => ({
      path: ['workload', i, setting],
      message: `has no effect: ${because}`,
    })
    const { mix, operations, documentSize, rangeKeys, allowPartialResults, expiry } = entry
    if (rangeKeys !== undefined && (mix?.findRange ?? 0) === 0)
      yield without('rangeKeys', 'the workload has no findRange')
    if (documentSize !== undefined && !inserts(entry) && expiry === undefined)
      yield without('documentSize', 'the workload inserts nothing')
    const reads =
      (mix !== undefined && mix.findByKey + mix.findRange + mix.findOther > 0) ||
      operations?.some(({ do: kind }) => kind === 'find') === true
    if (allowPartialResults && !reads) yield without('allowPartialResults', 'the workload reads nothing')
  }
  if (
    collections[0]!.mode === 'documents' &&
    'migrationBandwidth' in cluster &&
    cluster.migrationBandwidth !== undefined
  )
    yield {
      path: ['cluster', 'migrationBandwidth'],
      message: 'has no effect in mode documents, where the network is simulated',
    }
  const { numInitialChunksIsIgnored } = behavioursOf(emulate as EmulatedVersion)
  for (const [i, { numInitialChunks }] of collections.entries())
    if (numInitialChunks !== undefined && numInitialChunksIsIgnored)
      yield {
        path: ['collections', i, 'numInitialChunks'],
        message: `has no effect: ${emulate} ignores it, and every shard gets one chunk`,
      }
  for (const [i, { mode, indexEntrySize }] of collections.entries())
    if (mode === 'documents' && indexEntrySize !== undefined)
      yield {
        path: ['collections', i, 'indexEntrySize'],
        message: 'has no effect in mode documents, where disk figures do not have indexes',
      }
  for (const zone of Object.keys(cluster.zones)) {
    const isUsed = timeline.some(
      (entry) =>
        ('zone' in entry && entry.zone === zone) ||
        (entry.do === 'command' && JSON.stringify(entry).includes(JSON.stringify(zone))),
    )
    if (!isUsed)
      yield { path: ['cluster', 'zones', zone], message: 'has no effect: the timeline gives the zone no range' }
  }
}

/**
 * The server completes the bounds of a zone with MinKey. The automatic merger disregards zones, so
 * it joins the keys above such a bound with the zone's every hour, and the balancer splits them
 * again.
 */
export function* zonesThatEndBelowTheTop({ collections, timeline }: ScenarioSource): Generator<BrokenRule, void> {
  for (const [i, entry] of timeline.entries()) {
    if (entry.do !== 'updateZoneKeyRange' || !('max' in entry)) continue
    const fields = Object.keys(collections.find(({ ns }) => ns === entry.ns)!.key)
    const given = Object.values(entry.max)
    const last = given.at(-1)
    const isTop = typeof last === 'object' && last !== null && '$maxKey' in last
    if (!isTop || given.length >= fields.length) continue
    const whole = fields.map((field) => `${field}: { $maxKey: 1 }`).join(', ')
    yield {
      path: ['timeline', i, 'max'],
      message: `ends the zone at the lowest ${fields[given.length]!} of MaxKey, and the keys above it have no zone: write { ${whole} }`,
    }
  }
}

/** A `mix` means other queries under another key. */
export function* keyDependentMixes(
  variants: readonly { readonly name: string | null; readonly source: ScenarioSource }[],
): Generator<BrokenRule, void> {
  const count = Math.min(...variants.map(({ source }) => source.workload.length))
  for (let i = 0; i < count; i++) {
    /** By the first field of the key: the first variant. */
    const meanings = new Map<string, string>()
    for (const { name, source } of variants) {
      const { ns, mix } = source.workload[i]!
      if (mix === undefined || mix.findByKey + mix.findRange + mix.updateByKey === 0) continue
      const [field] = Object.keys(source.collections.find((collection) => collection.ns === ns)!.key) as [string]
      if (!meanings.has(field)) meanings.set(field, name ?? '')
    }
    if (meanings.size < 2) continue
    const texts = [...meanings].map(([field, name]) => `${field} in ${JSON.stringify(name)}`)
    yield {
      path: ['workload', i, 'mix'],
      message: `queries by the first field of the key, which is ${texts.join(' and ')}; to compare keys for the same queries, give the collection fields and the workload operations`,
    }
  }
}
