import type { ClusterEvent } from '@shardlab/actor'
import type { StartParameters } from '@shardlab/member'
import type { TlsSettings } from '@shardlab/runtime'
import type { EmulatedVersion } from '@shardlab/sharding'
import type { ClientLimits } from '../limit-options.js'

export interface EmulatedServerOptions {
  /** `shard` and `config-server` need `setName`, `mongos` needs `configDb`. */
  readonly role: 'mongod' | 'shard' | 'config-server' | 'mongos'
  /** Null: a standalone mongod, or a mongos. */
  readonly setName: string | null
  /** `host:port` of members of the config server, of which one must run. */
  readonly configDb?: { readonly setName: string; readonly hosts: readonly string[] }
  /** Address to listen on, as mongod also without `auth`. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Further addresses with the same port. Default: none. */
  readonly furtherHosts?: readonly string[]
  readonly limits?: ClientLimits
  /** Default: none. */
  readonly setParameter?: StartParameters
  /** Default: clients connect without TLS. */
  readonly tls?: TlsSettings
  /** Clients need a user. Default: false. */
  readonly auth?: boolean
  /** Default `7.0`. */
  readonly emulate?: EmulatedVersion
  /** These two: as in `ClusterOptions`. */
  readonly nativeWire?: boolean
  readonly periodicNoopIntervalSecs?: number
  /**
   * An existing directory, which this process locks, and which keeps the data. Default: data is
   * held in memory.
   */
  readonly dbPath?: string
  /** False: `dbPath` is only locked. Default true. */
  readonly storesData?: boolean
  /** Folder by which servers find one another. Default: one of this user. */
  readonly meetIn?: string
  readonly onEvent?: (event: ClusterEvent) => void
  /** Called when the member of a set, as its primary, accepts writes. */
  readonly onWritable?: () => void
}
