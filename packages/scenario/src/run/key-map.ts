/**
 * What an owner map needs besides the samples: sizes and zones of the key space at the end. Reads
 * past the network.
 */
import { configAddress } from '@shardlab/actor'
import { EJSON, encode, findField, MaxKey } from '@shardlab/bson'
import type { KeyMap, Sample } from '../types.js'
import type { ScenarioWorld } from './world.js'

export async function readKeyMaps(world: ScenarioWorld, last: Sample): Promise<Readonly<Record<string, KeyMap>>> {
  const entries: [string, KeyMap][] = []
  for (const ns of Object.keys(last.chunks)) entries.push([ns, await keyMapOf(world, ns, last)])
  return Object.fromEntries(entries)
}

async function keyMapOf({ cluster, catalog, sets }: ScenarioWorld, ns: string, { chunks }: Sample): Promise<KeyMap> {
  const placement = await catalog.get(ns)!.placement()
  const own = chunks[ns] ?? []
  if (placement === null || own.length === 0) return { bytes: [], zones: [] }
  const { shardKey } = placement
  const keyPattern = shardKey.document
  const globalMax = encode(Object.fromEntries(shardKey.paths.map((path) => [path, new MaxKey()])))
  const bounds = own.map(({ min }) => encode(EJSON.parse(min, { relaxed: true })))
  const primaries = new Map<string, string | null>()
  const primaryOf = async (set: string): Promise<string | null> => {
    if (!primaries.has(set)) primaries.set(set, await sets.primaryOf(set))
    return primaries.get(set)!
  }
  const bytes: number[] = []
  for (const [i, { shard }] of own.entries()) {
    const primary = await primaryOf(shard)
    if (primary === null) {
      bytes.push(0)
      continue
    }
    const range = { keyPattern, min: bounds[i]!, max: bounds[i + 1] ?? globalMax }
    const request = { ns, ...range, estimate: false, sizeMaxBytes: null }
    bytes.push((await cluster.peek(primary, 'shard.measure-range', request)).sizeBytes)
  }
  const config = await primaryOf(configAddress)
  if (config === null) return { bytes, zones: [] }
  const { zones } = await cluster.peek(config, 'config.get-zones', { ns })
  return {
    bytes,
    zones: zones.flatMap((document) => {
      const [min, max, tag] = ['min', 'max', 'tag'].map((name) => findField(document, name)!)
      const [from, to] = [shardKey.keyStringOfBound(min!.slice()), shardKey.keyStringOfBound(max!.slice())]
      return from === undefined || to === undefined ? [] : [{ fromKey: from, toKey: to, zone: tag!.asString() }]
    }),
  }
}
