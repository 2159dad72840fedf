import type { ClusterClock, Random, TimestampPair } from '@shardlab/actor'
import type { TimeKey } from '@shardlab/auth'
import {
  applyLogParameters,
  SessionCatalog,
  type ConnectionTable,
  type LogBuffer,
  type ParameterSet,
  type TimeKeySource,
} from '@shardlab/member'
import type { CatalogCache, KnownRoutes } from './catalog/catalog-cache.js'
import type { KnownShards, ShardRegistry } from './catalog/shard-registry.js'

/** As of the last refresh. */
export interface ConcernDefaults {
  /** From config.settings; null: never set. */
  readonly document: Uint8Array | null
  readonly updatedAtMs: number
}

/** Copies of a router start with it. Shared by any number of copies; immutable. */
export interface MongosState {
  readonly time: TimestampPair
  readonly timeKeys: readonly TimeKey[]
  readonly clusterId: Uint8Array | null
  readonly concernDefaults: ConcernDefaults
  readonly chunkSizeBytes: number
  /** The document of config.clusterParameters; null: it was never set. */
  readonly querySettings: Uint8Array | null
  readonly routes: KnownRoutes
  readonly shards: KnownShards
  readonly sessions: SessionCatalog
  readonly parameters: ReturnType<ParameterSet['export']>
}

/** A router hands these to its replacement under the same client connections. */
export interface MongosClients {
  readonly connections: ConnectionTable
  readonly cursorIds: Random
  readonly processId: Uint8Array
}

export interface MongosStateHost {
  readonly clock: ClusterClock
  readonly timeKeys: TimeKeySource | null
  readonly clusterId: Uint8Array | null
  readonly concernDefaults: ConcernDefaults
  readonly chunkSizeBytes: number
  readonly querySettingsParameter: Uint8Array | null
  readonly catalog: CatalogCache
  readonly shards: ShardRegistry
  readonly sessions: SessionCatalog
  readonly parameters: ParameterSet
  readonly logBuffer: LogBuffer
}

export function exportMongosState(host: MongosStateHost): MongosState {
  const sessions = new SessionCatalog()
  sessions.adopt(host.sessions)
  return {
    time: host.clock.time,
    timeKeys: host.timeKeys?.signer.keys ?? [],
    clusterId: host.clusterId,
    concernDefaults: host.concernDefaults,
    chunkSizeBytes: host.chunkSizeBytes,
    querySettings: host.querySettingsParameter,
    routes: host.catalog.export(),
    shards: host.shards.export(),
    sessions,
    parameters: host.parameters.export(),
  }
}

export function resumeMongos(host: MongosStateHost, state: MongosState): void {
  host.clock.advance(state.time)
  host.timeKeys?.signer.learn(state.timeKeys)
  host.catalog.import(state.routes)
  host.shards.import(state.shards)
  host.sessions.adopt(state.sessions)
  host.parameters.import(state.parameters)
  applyLogParameters(host)
}
