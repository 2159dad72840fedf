import type { ActorContext, ClusterClock, CommandArguments } from '@shardlab/actor'
import type { Behaviours } from '@shardlab/sharding'
import type { SessionCatalog } from '../sessions/session-catalog.js'

/** What the commands that every member answers alike need to know of their member. */
export interface CommonHost {
  readonly context: ActorContext
  readonly behaviours: Behaviours
  /** What serverStatus calls the process. */
  readonly process: 'mongos' | 'mongod'
  readonly startedAtMs: number
  readonly clock: ClusterClock
  readonly sessions: SessionCatalog
}

/** One run of such a command. */
export interface CommonInvocation {
  readonly host: CommonHost
  readonly db: string
  readonly body: Uint8Array
  readonly args: CommandArguments
  /** 0 for commands that come from another member. */
  readonly connectionId: number
  /** `host:port` of the client. */
  readonly remote: string
}
