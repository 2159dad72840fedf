import type { CommandError, DocumentWriter } from '@shardlab/bson'
import type { ActorContext, ClusterClock, CommandArguments, CommandRow } from '@shardlab/actor'
import type { Behaviours } from '@shardlab/sharding'
import type { TimeKeySource } from './access/time-key-source.js'
import type { UserCommand, UserSource } from './access/user-source.js'
import type { FailPoints } from './fail-points/fail-points.js'
import type { LogBuffer } from './log/log-buffer.js'
import type { ShardLabel } from './operations/shard-label.js'
import type { ReportedTransaction } from './operations/reported-transaction.js'
import type { OperationRegistry } from './operations/operation-registry.js'
import type { RunningOperation } from './operations/running-operation.js'
import type { QuerySettingsTable } from './query-settings/settings-table.js'
import type { SamplingReport } from './sampling/sampling-report.js'
import type { ParameterSet } from './parameters/parameter-set.js'
import type { SessionCatalog, SessionId, SessionKey } from './sessions/session-catalog.js'
import type { MemberStatistics } from './statistics/member-statistics.js'
import type { ConnectionTable } from './connections/connection-table.js'

/** The parts of a process that shared commands and helpers read. */
export interface MemberHost {
  readonly context: ActorContext
  readonly behaviours: Behaviours
  readonly process: 'mongos' | 'mongod'
  readonly startedAtMs: number
  /** Connection strings of the shards and the config server. Absent: the member knows none. */
  replicaSets?(): Iterable<string>
  /** Of a replica set; absent: this is a router. */
  readonly isPrimary?: boolean
  /** Without a replica set. Absent: false. */
  readonly isStandalone?: boolean
  /**
   * Steps down before a shutdown, for which a secondary may catch up for this time.
   * @returns the error; absent, or null instead of a promise: there is no other member
   */
  stepDownForShutdown?(catchUpSeconds: number): Promise<CommandError | null> | null
  /** Of clients that connect to this process. */
  readonly users: UserSource
  /** The privileges have been checked. @throws CommandError */
  runUserCommand(command: UserCommand, invocation: MemberInvocation): Promise<DocumentWriter>
  /** Clients need privileges for their commands. */
  readonly hasAccessControl: boolean
  readonly clock: ClusterClock
  /** Null: cluster times need no signature: without access control, and on a standalone. */
  readonly timeKeys: TimeKeySource | null
  readonly sessions: SessionCatalog
  readonly statistics: MemberStatistics
  readonly operations: OperationRegistry
  readonly connections: ConnectionTable
  readonly failPoints: FailPoints
  readonly parameters: ParameterSet
  readonly logBuffer: LogBuffer
  /** `topologyVersion.processId` of hello. */
  readonly processId: Uint8Array
  /** null: the emulated version has no query sampling */
  readonly sampling: SamplingReport | null
  /** As far as this process knows; null: no query has settings. */
  readonly querySettings: QuerySettingsTable | null
  /** Entries of currentOp for background work. Absent: the member has no such work. */
  backgroundOperations?(shard: ShardLabel): Iterable<Uint8Array>
  /** For currentOp. Absent: the member has none. */
  openTransactions?(): Iterable<ReportedTransaction>
  readonly commandRows: readonly CommandDescription[]
  killCursorsOfSessions(fits: (session: SessionKey) => boolean): void
}

/** Shown by listCommands. */
export type CommandDescription = Pick<
  CommandRow<never>,
  'name' | 'summary' | 'adminOnly' | 'access' | 'apiVersion1' | 'endsWithClient'
>

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
