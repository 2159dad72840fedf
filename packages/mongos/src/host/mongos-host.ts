/**
 * `Mongos` implements these interfaces. A class or function that needs only a part of the router
 * takes the narrow one.
 */
import type {
  ActorContext,
  Cancellation,
  ClientCommand,
  ClusterClock,
  CommandArguments,
  Random,
  TimestampPair,
} from '@shardlab/actor'
import type { DocumentWriter } from '@shardlab/bson'
import type {
  Concerns,
  MemberHost,
  MemberInvocation,
  CursorOwner,
  ParameterSet,
  QuerySettings,
  SamplingReport,
  SessionId,
  TailableMode,
} from '@shardlab/member'
import type { EvaluationContext } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import type { CatalogCache } from '../catalog/catalog-cache.js'
import type { ShardRegistry } from '../catalog/shard-registry.js'
import type { Operation } from '../dispatch/operation.js'
import type { ConcernDefaults } from '../mongos-state.js'
import type { MongosLimits, MongosOptions } from '../options.js'
import type { MongosParameterName } from '../parameters/mongos-parameters.js'
import type { Remote } from '../remote/remote.js'
import type { Statistics } from '../statistics/statistics.js'
import type { RouterTransactions } from '../transactions/router-transactions.js'

export interface LimitsHost {
  readonly context: ActorContext
  readonly limits: MongosLimits
  limitReached(limit: string, value: number): void
}

export interface RoutingHost extends LimitsHost {
  readonly behaviours: Behaviours
  readonly clock: ClusterClock
  readonly catalog: CatalogCache
  readonly shards: ShardRegistry
  readonly remote: Remote
  readonly stopping: Cancellation
  hostOf(member: string): string
  /**
   * {@link ActorContext.reach}.
   * @throws CommandError 192 FailPointEnabled when a fault makes the step fail
   */
  reach(step: string, detail: Readonly<Record<string, unknown>>): Promise<void>
}

export interface BatchRequest {
  /** 0: limited by bytes only. */
  readonly batchSize: number
  /** How long to wait for documents on an awaitData cursor; undefined: not at all. */
  readonly awaitMs?: number
}

export interface ClusterCursor {
  readonly ns: string
  readonly multiTarget: boolean
  /**
   * @param ownId the cursor id of the reply while more documents may come
   * @throws CommandError of a shard or of the request to it
   */
  next(invocation: MongosInvocation, request: BatchRequest, ownId: bigint): Promise<DocumentWriter>
  /**
   * Whether a read has met the end. A batch that ends with the last document has not: as on the
   * server, one more getMore finds the end.
   */
  readonly exhausted: boolean
  /**
   * Runs before the cursor is stored between two commands: copies the documents that are in buffers
   * of the last reply.
   */
  detach(): void
  /** Closes the cursors on shards. */
  kill(host: RoutingHost): void
}

export interface OpenCursorOptions {
  readonly cursor: ClusterCursor
  readonly session: SessionId | null
  readonly noTimeout: boolean
  /** Default `no`. */
  readonly tailable?: TailableMode
  /** Of the command that opens it. Default: none. */
  readonly api?: Uint8Array
  /** The cursor inherits its comment, and the rest of its maxTimeMS. */
  readonly operation: Operation
  /** Of a read with read concern snapshot; null: another read concern. Default: null. */
  readonly atClusterTime?: TimestampPair | null
}

export interface PinnedCursor {
  readonly cursor: ClusterCursor
  readonly tailable: TailableMode
  /** The rest of the opening command's maxTimeMS; null: no limit. */
  readonly leftMs: number | null
  /** As in {@link OpenCursorOptions}. */
  readonly atClusterTime: TimestampPair | null
  /** `{ comment }` of the opening command; null: none. */
  readonly comment: Uint8Array | null
}

export interface IdleClusterCursor {
  readonly id: bigint
  readonly ns: string
  readonly lastUsedMs: number
  readonly noTimeout: boolean
  readonly tailable: TailableMode
}

export interface ClusterCursors {
  readonly size: number
  readonly pinnedCount: number
  readonly multiTargetCount: number
  readonly timedOutCount: number
  idle(): Iterable<IdleClusterCursor>
  /**
   * @throws CommandError 365 TemporarilyUnavailable when the table is full; the cursor is closed
   *   then
   */
  open(options: OpenCursorOptions): bigint
  /**
   * @throws CommandError 43 CursorNotFound, 143 CursorInUse, 13 Unauthorized, 50799 to 50801 for
   *   other sessions, 347 APIMismatchError
   */
  pin(id: bigint, ns: string, invocation: Pick<MongosInvocation, 'args' | 'operation' | 'session'>): PinnedCursor
  /** @param gone the cursor failed or is exhausted */
  unpin(id: bigint, gone: boolean): void
  /** Undefined: no cursor has this id. */
  find(id: bigint): { readonly ns: string; readonly owner: CursorOwner } | undefined
  /** @returns whether the cursor existed */
  kill(id: bigint): boolean
  /** After this router has dropped collections. Few of their cursors stay open. */
  collectionsDropped(fits: (ns: string) => boolean): void
}

export interface ChosenQuery {
  readonly ns: string
  readonly sampleId: Uint8Array
  readonly cmdName: string
  readonly cmd: Uint8Array
}

/** For analyzeShardKey. */
export interface QuerySampling extends SamplingReport {
  /** Whether any collection is sampled. If none is, a command checks nothing else. */
  readonly isActive: boolean
  /** @returns the sample id; null: the query is not sampled */
  choose(ns: string, kind: 'reads' | 'writes'): Uint8Array | null
  /** Keeps a sampled write until {@link noteRouted} names its shards. */
  keepLater(operation: Operation, query: ChosenQuery): void
  noteRouted(invocation: MongosInvocation, ns: string, shards: readonly string[]): void
}

export interface SamplerHost {
  readonly context: ActorContext
  readonly remote: Remote
  readonly stopping: Cancellation
  readonly parameters: MemberHost['parameters']
  readonly statistics: Statistics
}

export interface MongosHost extends MemberHost, RoutingHost {
  readonly context: ActorContext
  readonly behaviours: Behaviours
  readonly clock: ClusterClock
  readonly process: 'mongos'
  readonly options: MongosOptions
  readonly cursors: ClusterCursors
  readonly parameters: ParameterSet<MongosParameterName>
  readonly statistics: Statistics
  /** Null in versions that sample no queries. */
  readonly sampling: QuerySampling | null
  /** Null until the config server has replied for the first time. */
  readonly clusterId: Uint8Array | null
  /** As of the last refresh. */
  readonly transactions: RouterTransactions
  readonly concernDefaults: ConcernDefaults
  readonly chunkSizeBytes: number
  readonly newObjectId: () => Uint8Array
  /** Draws the merging shard where any shard may merge. */
  readonly mergeDice: Random
  /** @throws CommandError of the request to the config server */
  refreshConcernDefaults(operation: Operation | null): Promise<void>
  /** @param parameter the document of config.clusterParameters; null: it was never set */
  learnQuerySettings(parameter: Uint8Array | null): void
  evaluation(): EvaluationContext
  runInternally(command: ClientCommand): Promise<Uint8Array>
  /** Delays the shutdown of the router until {@link commandEnds}. */
  commandBegins(): void
  commandEnds(): void
}

export interface MongosInvocation extends MemberInvocation {
  readonly host: MongosHost
  readonly args: CommandArguments
  readonly sequences: readonly (readonly [string, readonly Uint8Array[]])[]
  readonly session: SessionId | null
  /** Null: not a retryable write. */
  readonly txnNumber: bigint | null
  readonly concerns: Concerns
  readonly operation: Operation
  /** The view that the client named, while the command runs on its collection. */
  readonly cursorNs?: string
  readonly explain?: Uint8Array
  /** The explained command as it names a view. Absent: it names none. */
  readonly ofView?: Uint8Array
  /** Absent: the query has none. */
  readonly querySettings?: QuerySettings
}
