import type { ActorContext } from '@shardlab/actor'
import type { ReplicationCoordinator } from '@shardlab/replication'
import type { ProtocolHooks } from './protocol-hooks.js'
import type { ReplicaLog } from './replica-log.js'

/** What the parts of a running protocol share. */
export interface ProtocolParts {
  readonly context: ActorContext
  readonly log: ReplicaLog
  readonly coordinator: ReplicationCoordinator
  readonly hooks: ProtocolHooks
  readonly nowMs: number
  /** `rbid`: grows with each rollback. */
  rollbackId: number
  /** Call it after every call of the coordinator. */
  carryOut(): void
}
