import type { StartParameters } from '@shardlab/member'
import type { TlsSettings } from '@shardlab/runtime'
import type { EmulatedVersion } from '@shardlab/sharding'
import type { ResolvedLimits } from './limit-options.js'
import type { ClusterMachines } from './nats/nats-options.js'
import type { ResolvedSets } from './sets/resolve-sets.js'
import type { TopologyName } from './topology-name.js'

export interface ResolvedOptions extends ResolvedSets {
  readonly topology: TopologyName
  readonly setName: string
  readonly initiate: boolean
  readonly heartbeatIntervalMs: number
  readonly electionTimeoutMs: number
  readonly shards: number
  readonly standby: readonly string[]
  readonly mongos: number
  readonly port: number
  readonly host: string
  /** By which clients know the members. */
  readonly announcedHost: string
  readonly insecure: boolean
  /** null: without TLS. */
  readonly tls: TlsSettings | null
  readonly emulate: EmulatedVersion
  /** 0: the version's default. */
  readonly chunkSizeBytes: number
  readonly runtime: 'threads' | 'inline'
  /** null: members run in this process. */
  readonly nats: ClusterMachines | null
  readonly clock: 'real' | 'manual'
  readonly autoAdvance: boolean
  /** undefined: see {@link ClusterOptions.hosts}. */
  readonly hosts: number | undefined
  readonly seed: number
  readonly balancerRoundIntervalMs: number
  readonly findReplicaSetHostTimeoutMs: number
  /** null: the default. */
  readonly oplogSizeBytes: number | null
  /** null: when a change stream needs one. */
  readonly periodicNoopIntervalSecs: number | null
  readonly networkTimeoutMs: number
  readonly nativeWire: boolean
  readonly auth: boolean
  readonly clientLimits: ResolvedLimits
  readonly setParameter: StartParameters
  readonly strict: boolean
  /** null: as in the emulated version. */
  readonly autoSplit: boolean | null
  readonly diskSizeBytes: number
  /** null: disks are in memory. */
  readonly dbPath: string | null
}
