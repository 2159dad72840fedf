import type { ActorContext, ClusterClock, CommandArguments, CommandRow } from '@shardlab/actor'
import type { Behaviours } from '@shardlab/sharding'
import type { FailPoints } from './fail-points/fail-points.js'
import type { LogBuffer } from './log/log-buffer.js'
import type { ShardLabel } from './operations/shard-label.js'
import type { OperationRegistry } from './operations/operation-registry.js'
import type { RunningOperation } from './operations/running-operation.js'
import type { SamplingReport } from './sampling/sampling-report.js'
import type { ParameterSet } from './parameters/parameter-set.js'
import type { SessionCatalog, SessionId, SessionKey } from './sessions/session-catalog.js'
import type { MemberStatistics } from './statistics/member-statistics.js'
import type { ConnectionTable } from './connections/connection-table.js'

/** What the commands that every member answers alike need to know of their member. */
export interface MemberHost {
  readonly context: ActorContext
  readonly behaviours: Behaviours
  /** What serverStatus calls the process. */
  readonly process: 'mongos' | 'mongod'
  readonly startedAtMs: number
  readonly clock: ClusterClock
  readonly sessions: SessionCatalog
  readonly statistics: MemberStatistics
  readonly operations: OperationRegistry
  readonly connections: ConnectionTable
  readonly failPoints: FailPoints
  readonly parameters: ParameterSet
  readonly logBuffer: LogBuffer
  /** The process id part of hello's topologyVersion. */
  readonly processId: Uint8Array
  /** The queries that this member samples; null: none, as the emulated version does not. */
  readonly sampling: SamplingReport | null
  /** Documents of currentOp about work that no command does. Absent: there is none. */
  backgroundOperations?(shard: ShardLabel): Iterable<Uint8Array>
  /** All commands, for listCommands. */
  readonly commandRows: readonly CommandDescription[]
  /** Closes the cursors of sessions that fit. */
  killCursorsOfSessions(fits: (session: SessionKey) => boolean): void
}

/** What listCommands tells of a command. */
export type CommandDescription = Pick<CommandRow<never>, 'name' | 'summary' | 'adminOnly' | 'access' | 'apiVersion1'>

/** One run of such a command. */
export interface MemberInvocation {
  readonly host: MemberHost
  readonly db: string
  readonly body: Uint8Array
  readonly args: CommandArguments
  readonly operation: RunningOperation
  readonly session: SessionId | null
  /** 0 for commands that come from another member. */
  readonly connectionId: number
  /** `host:port` of the client. */
  readonly remote: string
}
