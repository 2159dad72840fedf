import { balancerExchanges } from './balancer.js'
import { chunkExchanges } from './chunks.js'
import { commandExchanges } from './commands.js'
import { configExchanges } from './config.js'
import { consistencyExchanges } from './consistency.js'
import { defragmentationExchanges } from './defragmentation.js'
import type { Exchange } from './exchange.js'
import { faultExchanges } from './faults.js'
import { measuredExchanges } from './measured.js'
import { membershipExchanges } from './membership.js'
import { migrationExchanges } from './migrations.js'
import { queryAnalysisExchanges } from './query-analysis.js'
import { refineShardKeyExchanges } from './refine-shard-key.js'
import { relocationExchanges } from './relocation.js'
import { replicationExchanges } from './replication.js'
import { reshardingExchanges } from './resharding.js'
import { shardExchanges } from './shard.js'
import { switchExchanges } from './switches.js'
import { zoneExchanges } from './zones.js'
import { statisticsExchanges } from './statistics.js'

export * from './balancer.js'
export * from './chunks.js'
export * from './config.js'
export * from './defragmentation.js'
export * from './consistency.js'
export type { Empty, ErrorField, Exchange, TimestampPair } from './exchange.js'
export { exchange } from './exchange.js'
export * from './faults.js'
export * from './measured.js'
export * from './membership.js'
export * from './migrations.js'
export * from './query-analysis.js'
export * from './refine-shard-key.js'
export * from './relocation.js'
export * from './replication.js'
export * from './resharding.js'
export * from './shard.js'
export * from './switches.js'
export * from './zones.js'
export * from './statistics.js'
export * from './commands.js'

/** Every message kind between members. Faults filter messages by these names. */
export const catalogue = {
  ...commandExchanges,
  ...configExchanges,
  ...chunkExchanges,
  ...shardExchanges,
  ...refineShardKeyExchanges,
  ...reshardingExchanges,
  ...balancerExchanges,
  ...defragmentationExchanges,
  ...migrationExchanges,
  ...measuredExchanges,
  ...statisticsExchanges,
  ...queryAnalysisExchanges,
  ...consistencyExchanges,
  ...zoneExchanges,
  ...membershipExchanges,
  ...switchExchanges,
  ...relocationExchanges,
  ...faultExchanges,
  ...replicationExchanges,
}

export type Catalogue = typeof catalogue
export type MessageKind = keyof Catalogue
export type RequestOf<K extends MessageKind> = Catalogue[K] extends Exchange<infer Q, infer _> ? Q : never
export type ReplyOf<K extends MessageKind> = Catalogue[K] extends Exchange<infer _, infer R> ? R : never
