import type { Imbalance, ImbalanceOverTime, Sample, ShardSample } from '../types.js'

/** With fewer operations per shard, differences are noise. */
const operationsPerShard = 10

export function imbalanceOf(values: readonly number[]): Imbalance {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  if (values.length === 0 || mean === 0) return { maxToMean: 1, deviation: 0 }
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  return { maxToMean: rounded(Math.max(...values) / mean), deviation: rounded(Math.sqrt(variance)) }
}

/** Draining shards do not count. */
export function imbalanceAt({ shards }: Sample, of: (shard: ShardSample) => number): Imbalance {
  return imbalanceOf(
    Object.values(shards)
      .filter(({ draining }) => !draining)
      .map(of),
  )
}

export function imbalanceOver(samples: readonly Sample[], of: (shard: ShardSample) => number): ImbalanceOverTime {
  return overTime(samples.map((sample) => imbalanceAt(sample, of)))
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
