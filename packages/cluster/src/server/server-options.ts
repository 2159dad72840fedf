import type { ClusterEvent } from '@shardlab/actor'
import type { EmulatedVersion } from '@shardlab/sharding'

export interface EmulatedServerOptions {
  /** Null: standalone. */
  readonly setName: string | null
  /** Address to listen on. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Default `7.0`. */
  readonly emulate?: EmulatedVersion
  /** As in `ClusterOptions`. */
  readonly nativeWire?: boolean
  readonly onEvent?: (event: ClusterEvent) => void
  /** Called when the member of a set, as its primary, accepts writes. */
  readonly onWritable?: () => void
}
