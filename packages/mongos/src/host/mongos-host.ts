/**
 * The router as its commands see it. `Mongos` implements these interfaces; a class or function that
 * needs only a part of the router takes the narrow one.
 */
import type { ActorContext, Cancellation, ClientCommand, ClusterClock, CommandArguments, Random } from '@shardlab/actor'
import type { DocumentWriter } from '@shardlab/bson'
import type {
  Concerns,
  MemberHost,
  MemberInvocation,
  ParameterSet,
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

/** Limits, and the event that reports that one was reached. */
export interface LimitsHost {
  readonly context: ActorContext
  readonly limits: MongosLimits
  limitReached(limit: string, value: number): void
}

/** Placement, and requests to members. */
export interface RoutingHost extends LimitsHost {
  readonly behaviours: Behaviours
  readonly clock: ClusterClock
  readonly catalog: CatalogCache
  readonly shards: ShardRegistry
  readonly remote: Remote
  /** Aborted when the router shuts down. */
  readonly stopping: Cancellation
  /** `host:port` of a member, as far as it is known. */
  hostOf(member: string): string
  /**
   * {@link ActorContext.reach}. @throws CommandError 192 FailPointEnabled when a fault makes the
   * step fail
   */
  reach(step: string, detail: Readonly<Record<string, unknown>>): Promise<void>
}

/** A batch that a getMore requests. */
export interface BatchRequest {
  /** 0: limited by bytes only. */
  readonly batchSize: number
  /** How long to wait for documents on an awaitData cursor; undefined: not at all. */
  readonly awaitMs?: number
}

/** A client's cursor on a router. */
export interface ClusterCursor {
  readonly ns: string
  /** Whether it reads from more than one shard. */
  readonly multiTarget: boolean
  /**
   * Replies to a getMore.
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
   * Called before the cursor is stored between two commands: copies what lies in buffers of the
   * last reply.
   */
  detach(): void
  /** Closes the cursors that are open on shards. */
  kill(host: RoutingHost): void
}

export interface OpenCursorOptions {
  readonly cursor: ClusterCursor
  readonly session: SessionId | null
  readonly noTimeout: boolean
  /** Default `no`. */
  readonly tailable?: TailableMode
  /** Stable API parameters of the command that opens it. Default: none. */
  readonly api?: Uint8Array
  /** The operation that opens it: the cursor inherits the rest of its maxTimeMS. */
  readonly operation: Operation
}

/** A cursor in use by one getMore. */
export interface PinnedCursor {
  readonly cursor: ClusterCursor
  readonly tailable: TailableMode
  /** Time left of the maxTimeMS of the command that opened it; null: no limit. */
  readonly leftMs: number | null
}

/** A cursor that no getMore uses at the moment. */
export interface IdleClusterCursor {
  readonly id: bigint
  readonly ns: string
  readonly lastUsedMs: number
  readonly noTimeout: boolean
  readonly tailable: TailableMode
}

/** The table of open cursors. */
export interface ClusterCursors {
  readonly size: number
  readonly pinnedCount: number
  readonly multiTargetCount: number
  /** Cursors closed because they were idle. */
  readonly timedOutCount: number
  idle(): Iterable<IdleClusterCursor>
  /**
   * Stores a cursor. @throws CommandError 365 TemporarilyUnavailable when the table is full; the
   * cursor is closed then
   */
  open(options: OpenCursorOptions): bigint
  /**
   * Reserves a cursor for a getMore.
   * @throws CommandError 43 CursorNotFound, 143 CursorInUse, 13 Unauthorized, 50799 to 50801 for
   *   other sessions, 347 APIMismatchError
   */
  pin(id: bigint, ns: string, invocation: Pick<MongosInvocation, 'args' | 'operation' | 'session'>): PinnedCursor
  /** Ends a getMore. @param gone the cursor failed or is exhausted */
  unpin(id: bigint, gone: boolean): void
  /** @returns whether the cursor existed */
  kill(id: bigint): boolean
}

/** A query that was selected as a sample. */
export interface ChosenQuery {
  readonly ns: string
  readonly sampleId: Uint8Array
  readonly cmdName: string
  readonly cmd: Uint8Array
}

/** Selects queries for analyzeShardKey. */
export interface QuerySampling extends SamplingReport {
  /** Whether any collection is sampled: all that a command checks if none is. */
  readonly isActive: boolean
  /** @returns the sample id of this query; null: it is not sampled */
  choose(ns: string, kind: 'reads' | 'writes'): Uint8Array | null
  /** Keeps a sampled write until {@link noteRouted} names its shards. */
  keepLater(operation: Operation, query: ChosenQuery): void
  /** Sends the samples of an operation to one of the shards to which it was routed. */
  noteRouted(invocation: MongosInvocation, ns: string, shards: readonly string[]): void
}

/** The parts of the router that the sampler uses. */
export interface SamplerHost {
  readonly context: ActorContext
  readonly remote: Remote
  readonly stopping: Cancellation
  readonly parameters: MemberHost['parameters']
  readonly statistics: Statistics
}

/** The router as a whole. */
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
  /** The default read and write concern, as of the last refresh. */
  readonly concernDefaults: ConcernDefaults
  readonly newObjectId: () => Uint8Array
  /** Selects the merging shard where any shard may merge. */
  readonly mergeDice: Random
  /** Reads the defaults from the config server. @throws CommandError of the request */
  refreshConcernDefaults(operation: Operation | null): Promise<void>
  /** The environment of expressions. */
  evaluation(): EvaluationContext
  /** Runs a command as if a client had sent it. */
  runInternally(command: ClientCommand): Promise<Uint8Array>
  /** Delays the shutdown of the router until {@link commandEnds}. */
  commandBegins(): void
  commandEnds(): void
}

/** One run of a command on a router. */
export interface MongosInvocation extends MemberInvocation {
  readonly host: MongosHost
  readonly args: CommandArguments
  readonly sequences: readonly (readonly [string, readonly Uint8Array[]])[]
  readonly session: SessionId | null
  /** Null: not a retryable write. */
  readonly txnNumber: bigint | null
  readonly concerns: Concerns
  readonly operation: Operation
  /**
   * The view that the client named, while the command runs on its collection: the cursor carries
   * this name.
   */
  readonly cursorNs?: string
  /** The explain around the command. */
  readonly explain?: Uint8Array
}
