import { largestToMean } from '@shardlab/balancer'
import type { Imbalance, ImbalanceOverTime, Sample, ShardSample } from '../types.js'

/** With fewer operations per shard, differences are noise. */
const operationsPerShard = 10

export function imbalanceOf(values: readonly number[]): Imbalance {
  const mean = values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.length === 0 ? 0 : values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  return { maxToMean: rounded(largestToMean(values)), deviation: rounded(Math.sqrt(variance)) }
}

/**
 * Draining shards do not count.
 * @param zone only its shards
 */
export function imbalanceAt({ shards }: Sample, of: (shard: ShardSample) => number, zone?: string): Imbalance {
  return imbalanceOf(membersAt({ shards }, zone).map(of))
}

function membersAt({ shards }: Pick<Sample, 'shards'>, zone?: string): ShardSample[] {
  return Object.values(shards).filter(
    ({ draining, zones }) => !draining && (zone === undefined || zones.includes(zone)),
  )
}

export function imbalanceOver(samples: readonly Sample[], of: (shard: ShardSample) => number): ImbalanceOverTime {
  return overTime(samples.map((sample) => imbalanceAt(sample, of)))
}

/** Bytes by zone: while it had shards. */
export function zoneImbalance(samples: readonly Sample[]): Readonly<Record<string, ImbalanceOverTime>> {
  const zones = new Set(samples.flatMap(({ shards }) => Object.values(shards).flatMap((shard) => shard.zones)))
  const entries = [...zones].toSorted().flatMap((zone): [string, ImbalanceOverTime][] => {
    const found = samples
      .filter((sample) => membersAt(sample, zone).length > 0)
      .map((sample) => imbalanceAt(sample, ({ bytes }) => bytes, zone))
    return found.length === 0 ? [] : [[zone, overTime(found)]]
  })
  return Object.fromEntries(entries)
}

/** Combines neighbouring samples until there are enough operations. null: there never are. */
export function operationImbalance(samples: readonly Sample[]): ImbalanceOverTime | null {
  const found: Imbalance[] = []
  let sums = new Map<string, number>()
  for (const { shards } of samples) {
    const staying = Object.entries(shards).filter(([, { draining }]) => !draining)
    for (const [id, { operations }] of staying) sums.set(id, (sums.get(id) ?? 0) + operations)
    const counts = staying.map(([id]) => sums.get(id)!)
    if (counts.reduce((sum, count) => sum + count, 0) < operationsPerShard * counts.length) continue
    found.push(imbalanceOf(counts))
    sums = new Map()
  }
  return found.length === 0 ? null : overTime(found)
}

function overTime(all: readonly Imbalance[]): ImbalanceOverTime {
  const worst = all.reduce((most, each) => (each.maxToMean > most.maxToMean ? each : most))
  return { first: all[0]!, worst, last: all.at(-1)! }
}

/** For readable and comparable results. */
export const rounded = (value: number): number => Number(value.toPrecision(6))
