/** Shards targeted as a router would target them. */
import type { SizedRange } from '@shardlab/actor'
import type { OperationName, WorkloadSource } from '../file/schema.js'
import type { KeyWeights } from '../keys/key-weights.js'
import type { Weighted } from './key-space.js'
import type { MeasuredCollection } from './measured-collection.js'
import type { Owners } from './owners.js'

export interface Targets {
  readonly kinds: { readonly targeted: number; readonly multi: number; readonly broadcast: number }
  /** Share of the operations; an operation on two shards counts for both. */
  readonly perShard: ReadonlyMap<string, number>
  /** Share of operations that need one of these shards. */
  readonly failing: (down: ReadonlySet<string>) => number
}

/** @param count number of documents */
export function inserted(ranges: ReadonlyMap<string, readonly SizedRange[]>, count: number): Targets {
  const perShard = new Map(
    [...ranges].map(([shard, each]) => [shard, each.reduce((sum, { documents }) => sum + documents, 0) / count]),
  )
  return byShard({ targeted: 1, multi: 0, broadcast: 0 }, perShard)
}

export function targetsOf(
  name: Exclude<OperationName, 'insert'>,
  { rangeKeys }: WorkloadSource,
  { space, progress }: MeasuredCollection,
  owners: Owners,
  weights: KeyWeights,
): Targets {
  if (name === 'findOther' || (name === 'findRange' && space.isHashed)) return everywhere(owners)
  const places = space.ofOperations(weights.ofOperations(progress), progress)
  return name === 'findRange' ? ofRanges(places, rangeKeys, owners) : ofKeys(places, owners, name === 'updateByKey')
}

function byShard(kinds: Targets['kinds'], perShard: ReadonlyMap<string, number>): Targets {
  return {
    kinds,
    perShard,
    failing: (down) =>
      Math.min(
        1,
        [...perShard].reduce((sum, [shard, share]) => sum + (down.has(shard) ? share : 0), 0),
      ),
  }
}

function everywhere({ shards }: Owners): Targets {
  return {
    kinds: { targeted: 0, multi: 0, broadcast: 1 },
    perShard: new Map(shards.map((shard) => [shard, 1])),
    failing: (down) => (shards.some((shard) => down.has(shard)) ? 1 : 0),
  }
}

/**
 * A value whose documents are divided by a second field may have several owners. Only writes count
 * as broadcast if these are all shards.
 */
function ofKeys(places: readonly Weighted[], owners: Owners, isWrite: boolean): Targets {
  const perShard = new Map<string, number>()
  let [targeted, broadcast] = [0, 0]
  for (const place of places) {
    const owned = owners.split(place)
    const isOneValue = place.x0 === place.x1
    const shards = new Set(owned.map(({ shard }) => shard))
    if (!isOneValue || shards.size === 1) targeted += place.weight
    else if (isWrite && shards.size === owners.count) broadcast += place.weight
    if (isOneValue) for (const shard of shards) perShard.set(shard, (perShard.get(shard) ?? 0) + place.weight)
    else for (const { shard, weight } of owned) perShard.set(shard, (perShard.get(shard) ?? 0) + weight)
  }
  return byShard({ targeted, broadcast, multi: Math.max(0, 1 - targeted - broadcast) }, perShard)
}

function ofRanges(places: readonly Weighted[], length: number, owners: Owners): Targets {
  const { single, perShard } = owners.ofRanges(length, belowOf(places))
  return byShard({ targeted: single, multi: Math.max(0, 1 - single), broadcast: 0 }, perShard)
}

function belowOf(places: readonly Weighted[]): (x: number) => number {
  let sum = 0
  const before = places.map(({ weight }) => (sum += weight) - weight)
  return (x) => {
    let [low, high] = [0, places.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (places[middle]!.x0 < x) low = middle + 1
      else high = middle
    }
    if (low === 0) return 0
    const { x0, x1, weight } = places[low - 1]!
    return before[low - 1]! + weight * (x1 > x0 ? Math.min(1, (x - x0) / (x1 - x0)) : 1)
  }
}
