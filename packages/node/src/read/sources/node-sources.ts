import { collStatsSource } from './coll-stats-source.js'
import { currentOpSource } from './current-op-source.js'
import { indexStatsSource } from './index-stats-source.js'
import { listSampledQueriesSource } from './list-sampled-queries.js'
import { listLocalSessionsSource, listSessionsSource } from './list-sessions-sources.js'
import { planCacheStatsSource } from './plan-cache-stats-source.js'
import { querySettingsStage } from './query-settings-source.js'
import { shardedDataDistributionSource } from './sharded-data-distribution-source.js'
import type { NodeStageSource } from './source.js'

export const nodeStageSources: ReadonlyMap<string, NodeStageSource> = new Map<string, NodeStageSource>(
  [
    collStatsSource,
    currentOpSource,
    indexStatsSource,
    listLocalSessionsSource,
    listSampledQueriesSource,
    listSessionsSource,
    planCacheStatsSource,
    querySettingsStage,
    shardedDataDistributionSource,
  ].map((row) => [row.name, row]),
)
