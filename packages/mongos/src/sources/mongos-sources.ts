import { listClusterCatalogSource } from './list-cluster-catalog-source.js'
import { currentOpSource } from './current-op-source.js'
import { listLocalSessionsSource, listSessionsSource } from './session-sources.js'
import { querySettingsStage } from './query-settings-source.js'
import { shardedDataDistributionSource } from './sharded-data-distribution-source.js'
import type { MongosStageSource } from './source.js'

const rows: readonly MongosStageSource[] = [
  { name: '$collStats', place: () => 'owning-shards' },
  currentOpSource,
  { name: '$indexStats', place: () => 'owning-shards' },
  listClusterCatalogSource,
  listLocalSessionsSource,
  { name: '$listSampledQueries', place: () => 'every-shard' },
  listSessionsSource,
  { name: '$planCacheStats', place: () => 'owning-shards' },
  querySettingsStage,
  shardedDataDistributionSource,
]

export const mongosStageSources: ReadonlyMap<string, MongosStageSource> = new Map<string, MongosStageSource>(
  rows.map((row) => [row.name, row]),
)
