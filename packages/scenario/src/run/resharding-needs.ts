/**
 * What a resharding would need.
 * Manual: core/sharding-reshard-a-collection, the requirements before a resharding.
 */
import type { Scenario } from '../file/parse.js'
import type { ReshardingNeeds, Sample } from '../types.js'
import type { SizePeaks } from './size-peaks.js'
import { defaultBandwidth, isMeasured, leastReshardingMs } from './world.js'

/** Of the size of collection and indexes. */
const freeFactor = 2

export function reshardingNeeds(
  scenario: Scenario,
  sizes: SizePeaks,
  last: Sample,
): Readonly<Record<string, ReshardingNeeds>> {
  if (!isMeasured(scenario)) return {}
  const shards = Object.values(last.shards).filter(({ draining }) => !draining).length
  const bandwidth = scenario.cluster.migrationBandwidth ?? defaultBandwidth
  return Object.fromEntries(
    scenario.collections.map(({ ns }): [string, ReshardingNeeds] => {
      const { bytes, indexBytes } = sizes.totalOf(ns)
      return [
        ns,
        {
          bytes,
          indexBytes,
          shards,
          freeBytesPerShard: Math.ceil(((bytes + indexBytes) * freeFactor) / shards),
          leastMs: Math.max(leastReshardingMs, Math.ceil((bytes * 1000) / shards / bandwidth)),
        },
      ]
    }),
  )
}
