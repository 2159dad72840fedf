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

/** The parts of a process that shared commands and helpers read. */
export interface MemberHost {
  readonly context: ActorContext
  readonly behaviours: Behaviours
  /** Name of the process in serverStatus. */
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
  /** Process id in topologyVersion of hello. */
  readonly processId: Uint8Array
  /** The query sampling of this member; null: the emulated version has none. */
  readonly sampling: SamplingReport | null
  /** Documents of currentOp about background work. Absent: there is none. */
  backgroundOperations?(shard: ShardLabel): Iterable<Uint8Array>
  /** All commands, for listCommands. */
  readonly commandRows: readonly CommandDescription[]
  /** Closes the cursors of matching sessions. */
  killCursorsOfSessions(fits: (session: SessionKey) => boolean): void
}

/** The fields of a row that listCommands shows. */
export type CommandDescription = Pick<CommandRow<never>, 'name' | 'summary' | 'adminOnly' | 'access' | 'apiVersion1'>

/** One run of a command. */
export interface MemberInvocation {
  readonly host: MemberHost
  readonly db: string
  readonly body: Uint8Array
  readonly args: CommandArguments
  readonly operation: RunningOperation
  readonly session: SessionId | null
  /** 0: the command is from another member. */
  readonly connectionId: number
  /** `host:port` of the client. */
  readonly remote: string
}
