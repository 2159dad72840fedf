/** The owners of a collection's key space over time. */
import type { OwnedRanges, Owners } from '@shardlab/report'
import type { KeyMap, Sample } from '../types.js'
import { columnsOf, ownersOf as ownersAt } from './owner-columns.js'

const digits = 5

export interface OwnedSpace {
  readonly instants: readonly Sample[]
  readonly map: KeyMap
  readonly shards: readonly string[]
}

/** Empty: the collection never had a chunk. */
export function ownersOf(ns: string, { instants, map, shards }: OwnedSpace): Owners[] {
  const chunksOf = ({ chunks }: Sample) => chunks[ns] ?? []
  const { bounds, texts, byBytes, byKeys } = columnsOf(instants.map(chunksOf), map.bytes)
  if (bounds.length === 0) return []
  const placeOf = new Map(shards.map((shard, place) => [shard, place]))
  const rows = instants.map((sample) => rangesOf(ownersAt(bounds, chunksOf(sample)), placeOf))
  const zones = map.zones.map(({ min, max, zone }) => {
    const from = Math.max(
      0,
      bounds.findLastIndex((bound) => bound <= min),
    )
    const after = bounds.findIndex((bound) => bound >= max)
    return { zone, from, to: after === -1 ? bounds.length : Math.max(after, from + 1) }
  })
  return [
    { ns, bounds: texts, byBytes: rounded(byBytes), byKeys: byKeys === null ? null : rounded(byKeys), zones, rows },
  ]
}

/** @param owners empty where there is no chunk */
function rangesOf(owners: readonly string[], placeOf: ReadonlyMap<string, number>): OwnedRanges[] {
  const ranges: OwnedRanges[] = []
  for (let from = 0; from < owners.length;) {
    let to = from + 1
    while (to < owners.length && owners[to] === owners[from]) to++
    const shard = placeOf.get(owners[from]!)
    if (shard !== undefined) ranges.push([from, to, shard])
    from = to
  }
  return ranges
}

const rounded = (shares: readonly number[]): number[] => shares.map((share) => Number(share.toPrecision(digits)))
