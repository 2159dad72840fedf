/**
 * `StorageNode` implements {@link NodeHost}. Code that needs only a part of the node takes one of
 * the narrow interfaces.
 */
import type {
  Cancellation,
  ClientCommand,
  ClientReply,
  CommandRow,
  CommandTable,
  NodeCommand,
  NodeReply,
} from '@shardlab/actor'
import type { CommandArguments } from '@shardlab/actor'
import type { DocumentWriter } from '@shardlab/bson'
import type {
  Concerns,
  MemberHost,
  MemberInvocation,
  ParameterSet,
  StartOptions,
  QuerySettings,
  SamplingReport,
  SessionId,
  SessionKey,
  ShardLabel,
  TimeKeySource,
  UpdateStatement,
} from '@shardlab/member'
import type { EvaluationContext } from '@shardlab/query'
import type { Behaviours, OwnershipFilter, PlacementVersion, ShardKeyPattern } from '@shardlab/sharding'
import type { Collection, Index, KeyOfInserted, LogEntry, LogSession, StorageEngine } from '@shardlab/storage'
import type { CursorManager } from '../cursors/cursor-manager.js'
import type { ReadWaits } from '../cursors/read-waits.js'
import type { InsertWaiters } from '../cursors/insert-waiters.js'
import type { LogChange } from '../log/log-change.js'
import type { Oplog } from '../log/oplog.js'
import type { ChangeObserver } from '../log/node-log.js'
import type { RetryHistory } from '../retry/retry-history.js'
import type { SnapshotHistory } from '../read/snapshots/snapshot-history.js'
import type { CollectionSizes, KeyBounds } from '../statistics/collection-sizes.js'
import type { NodeParameterName } from '../parameters/node-parameters.js'
import type { ReplicaSet } from '../replication/replica-set.js'
import type { NodeStatistics } from '../statistics/node-statistics.js'
import type { WriteLock } from './write-lock.js'
import type { TransactionStatement } from '../transactions/transaction.js'
import type { Transactions } from '../transactions/transactions.js'

/** Reads the current collections, or those at the time of a snapshot. */
export interface CollectionReader {
  readonly behaviours: Behaviours
  readonly engine: StorageEngine
  collection(ns: string): Collection | undefined
  /** Also the catalog of 2.6, which clients read as two more collections and cannot write to. */
  readable(ns: string): Collection | undefined
}

export interface ChangeWriter {
  /**
   * Applies one change. Call {@link flush} before acknowledging it; the bytes must not change
   * before that.
   */
  apply(change: LogChange): LogEntry
  /**
   * Inserts checked documents until one is refused. Call {@link flush} before acknowledging them.
   * @param keyOf null: entries have no document keys
   * @returns number of inserted documents
   */
  insertEach(
    collection: Collection,
    documents: readonly Uint8Array[],
    session: (LogSession & { readonly key: SessionKey }) | null,
    keyOf: KeyOfInserted | null,
  ): number
  /**
   * Inserts documents with new `_id`s, all or none. Call {@link flush} before acknowledging them.
   */
  insertAll(collection: Collection, documents: Iterable<Uint8Array>): void
  hasRoom(documentBytes: number, entries: number): boolean
  /**
   * Call before the first change of an operation that can still be refused.
   * @param entries number of changes that hold the documents. Default 1
   * @throws CommandError 14031 OutOfDiskSpace
   */
  requireRoom(documentBytes?: number, entries?: number): void
  /** Whether all applied changes are on the disk, and on a majority of the set. */
  readonly isWritten: boolean
  /**
   * Resolves when all changes applied so far are on the disk. @throws CommandError 14031
   * OutOfDiskSpace
   */
  flush(): Promise<void>
  /**
   * Resolves when no failover can undo the changes applied so far: a majority has them. For states
   * that other members learn. Never settles once this node has ended. @throws CommandError 14031
   * OutOfDiskSpace
   */
  flushToMajority(): Promise<void>
  /** @returns a function that removes the observer */
  observe(observer: ChangeObserver): () => void
}

/** `metrics.ttl` of serverStatus. */
export interface TtlCounters {
  passes: number
  deletedDocuments: number
}

export interface StorageNodeOptions {
  /** A mongod without a replica set. Default false: without `set` it is the only member of one. */
  readonly isStandalone?: boolean
  readonly behaviours: Behaviours
  readonly maxWireVersion: number
  /** Refuses commands and operators that are only partly implemented. Default false. */
  readonly strict?: boolean
  /** Clients need privileges for their commands. Default false. */
  readonly hasAccessControl?: boolean
  readonly startOptions?: StartOptions
  /**
   * How long this node searches for a member that is down. Server:
   * defaultFindReplicaSetHostTimeoutMS. Default 0: a request to such a member fails at once.
   */
  readonly findReplicaSetHostTimeoutMs?: number
  /**
   * Server parameter: a primary without writes appends a no-op so often, and change streams wait
   * for it. Default: every 10 s, unless it is the only member of its set, and when a stream needs
   * one.
   */
  readonly periodicNoopIntervalSecs?: number
  /** See {@link LogWriterOptions}. Default: 64 MB. */
  readonly checkpointAfterBytes?: number
  /**
   * See {@link LogWriterOptions}. Default: 4 MB, in sets of several members 16 MB; or
   * `checkpointAfterBytes` if that is less.
   */
  readonly oplogSizeBytes?: number
  /** See {@link RetryHistoryOptions.bytesMax}. Default: 64 MB. */
  readonly retryHistoryBytesMax?: number
  /** For reads of the past: the memory of replaced and deleted documents. Default: 4 MB. */
  readonly snapshotHistoryBytesMax?: number
}

/** Of a set that has keys of its own, or of a shard. */
export interface CreatedTimeKeys extends TimeKeySource {
  /** Call it again when a shard has joined a cluster. */
  start(): void
  /** Creates the keys that are missing. @returns the documents of all keys */
  complete(): Promise<Uint8Array[]>
}

export interface NodeHost extends MemberHost, CollectionReader, ChangeWriter {
  readonly behaviours: Behaviours
  readonly oplog: Oplog
  readonly process: 'mongod'
  readonly options: StorageNodeOptions
  readonly role: NodeRole
  readonly retries: RetryHistory
  /** Commands outside of transactions cost nothing while there are none. */
  readonly transactions: Transactions
  readonly timeKeys: CreatedTimeKeys | null
  readonly snapshots: SnapshotHistory
  /** Commands that write wait while it is held. */
  readonly writeLock: WriteLock
  /** `node`: the one that serves now, which may be a later one. */
  readonly reads: ReadWaits & { readonly node: NodeHost }
  readonly cursors: CursorManager
  readonly insertWaiters: InsertWaiters
  readonly statistics: NodeStatistics
  readonly opcounters: NodeStatistics['opcounters']
  readonly table: CommandTable<NodeInvocation>
  readonly parameters: ParameterSet<NodeParameterName>
  readonly isPrimary: boolean
  /** False on a secondary, until an elected member has caught up, and after its end. */
  readonly mayChange: boolean
  readonly set: ReplicaSet
  /** A mongod without a replica set: clients do not see that it is the only member of one. */
  readonly isStandalone: boolean
  readonly ttl: { readonly counters: TtlCounters }
  readonly sampling: SampledWrites | null
  readonly featureCompatibilityVersion: string
  /** Call it after a change of the stored cluster parameters. */
  refreshQuerySettings(): void
  readonly newObjectId: () => Uint8Array
  /** Aborted when the member shuts down. */
  readonly stopping: Cancellation
  backgroundOperations(shard: ShardLabel): Iterable<Uint8Array>
  evaluation(): EvaluationContext
  clientCommand(command: ClientCommand): Promise<ClientReply> | ClientReply
  nodeCommand(command: NodeCommand): Promise<NodeReply> | NodeReply
}

export interface RetryableWrite {
  readonly session: SessionId
  readonly txnNumber: bigint
  stmtId(index: number): number
}

export interface NodeInvocation extends MemberInvocation {
  readonly host: NodeHost
  readonly args: CommandArguments
  readonly sequences: readonly (readonly [string, readonly Uint8Array[]])[]
  /** The router's message; null when a client sent the command directly. */
  readonly routed: NodeCommand | null
  readonly retryable: RetryableWrite | null
  /** Absent: the command is not in a transaction. */
  readonly transaction?: TransactionStatement
  readonly concerns: Concerns
  /**
   * The view that the client named, when the command runs on the collection below it. The cursor
   * reports this name.
   */
  readonly cursorNs?: string
  /** The explained command as it names a view. Absent: it names none. */
  readonly ofView?: Uint8Array
  /** Absent: the query has none. */
  readonly querySettings?: QuerySettings
  /**
   * Called by a cursor that stays open: it could not wait for a transaction later.
   * @throws UndecidedRead if prepared transactions change a collection that it reads. Absent: it
   *   needs the outcome of none.
   */
  readonly stayOpen?: (() => void) | undefined
  /** The read runs again after a transaction has ended; its first run was counted. Absent: no. */
  readonly isRepeated?: boolean
}

/** Query sampling on a storage node, which also records the effect of sampled updates. */
export interface SampledWrites extends SamplingReport {
  /** Whether any collection is sampled. If not, the node does not call {@link statementBegins}. */
  readonly isActive: boolean
  /**
   * Announces the statement that causes the replacements until the next call: a statement of an
   * update, an op of a bulkWrite, or the body of a findAndModify. Its `sampleId` marks it as
   * sampled.
   */
  statementBegins(ns: string, statement: Uint8Array, invocation: NodeInvocation): void
}

/** Which documents of a collection a command may read and change. */
export interface Access {
  /** Null: all documents (unsharded collections, unversioned commands). */
  readonly ownership: OwnershipFilter | null
}

/**
 * What {@link NodeRole.enter} needs of a command. Some entrants run on behalf of another member.
 */
export interface Entrant extends Pick<NodeInvocation, 'host' | 'concerns' | 'transaction'> {
  readonly routed: RoutedBy | null
  readonly operation: { readonly command: string; readonly body?: Uint8Array }
}

/** The placement that a router assumed. */
export type RoutedBy = Pick<NodeCommand, 'shardVersion' | 'databaseVersion'>

/** The indexes that the shard key of a collection requires. */
export interface IndexRules {
  /** Whether dropping all indexes keeps some. */
  protects(access: Access, ns: string): boolean
  /** Whether dropping all indexes keeps this one. */
  keeps(access: Access, collection: Collection, index: Index): boolean
  /**
   * Whether this is the last visible index that supports the shard key.
   * @param gone names of indexes that are dropped before it
   */
  isLast(access: Access, collection: Collection, index: Index, gone: ReadonlySet<string>): boolean
  /**
   * @throws CommandError 67 CannotCreateIndex for an index that would be unique only within each
   * shard
   */
  checkNewIndex(access: Access, ns: string, spec: Uint8Array): void
}

export interface NodeRole {
  readonly name: 'shard' | 'config-server' | 'mongod'
  readonly setName: string
  /** By which other members reach this one: the id of a shard. `NodeHost.context.address` is it. */
  readonly memberName: string
  readonly rows: readonly CommandRow<NodeInvocation>[]
  /**
   * Called before a command uses a collection: compares the versions in the command with the
   * member's own.
   * @throws CommandError 13388 StaleConfig, 249 StaleDbVersion
   */
  enter(ns: string, entrant: Entrant): Promise<Access> | Access
  /**
   * Called with each document about to be stored by an update, before and after.
   * @throws CommandError for a forbidden change of the shard key value, 283 WouldChangeOwningShard
   *   for one that moves the document
   */
  checkReplacement(
    access: Access,
    before: Uint8Array,
    after: Uint8Array,
    invocation: NodeInvocation,
    statement: UpdateStatement,
  ): void
  /**
   * Called with each document about to be inserted by an upsert. Absent: every document is allowed.
   * @throws CommandError for one that belongs to another member, 283 WouldChangeOwningShard if the
   *   emulated version can move it there
   */
  checkUpsert?(access: Access, document: Uint8Array, invocation: NodeInvocation, statement: UpdateStatement): void
  /**
   * Called before the indexes or options of the collection change. Absent: changes are always
   * allowed.
   * @throws CommandError 338 ReshardCollectionInProgress
   */
  checkDefinitionChange?(ns: string): void
  /**
   * Called before a client renames a collection. Absent: every one may be renamed.
   * @throws CommandError 20 IllegalOperation
   */
  checkRename?(from: string, to: string): Promise<void>
  /** Entries of currentOp for work that no command runs. Absent: none. */
  backgroundOperations?(shard: ShardLabel): Iterable<Uint8Array>
  /**
   * The documents of the keys of cluster times. Absent: this set has its own keys.
   * @throws RequestFailedError
   */
  fetchTimeKeys?(): Promise<readonly Uint8Array[]>
  /** @throws CommandError if a client's write must not create this collection */
  checkImplicitCreate(ns: string, invocation: NodeInvocation): void
  /** Absent: sharding requires no indexes. */
  readonly indexRules?: IndexRules
  /**
   * The collections whose placement this member has cached, with the version; null: unsharded.
   * Absent: no collection.
   */
  placements?(): Iterable<readonly [ns: string, version: PlacementVersion | null]>
  /** The chunk size of the cluster as last known. Absent: the version's default. */
  chunkSizeBytes?(): number
  /** Reads it again, for serverStatus. Absent: it is always the current one. */
  refreshChunkSize?(): Promise<void>
  /**
   * The shard key of a collection; null: it is not sharded. Absent: no collection is.
   * @throws CommandError when it is unknown
   */
  shardKeyOf?(ns: string, uuid: Uint8Array): ShardKeyPattern | null | Promise<ShardKeyPattern | null>
  /** Appends the commits of two phases to serverStatus. Absent: this member coordinates none. */
  writeCoordinatorStatistics?(writer: DocumentWriter): void
  /** Appends the role's counters to shardingStatistics of serverStatus. Absent: none. */
  writeShardingStatistics?(writer: DocumentWriter): void
  /** Number of documents of a collection that belong to other members. Absent: 0. */
  orphanCount?(collection: Collection): number
  /**
   * Sizes of a collection that is stored without documents, within the bounds; bounds null: the
   * whole collection. Null or absent: the documents are stored and must be counted.
   * @throws CommandError 115 CommandNotSupported for bounds that are not of the shard key
   */
  sizesOf?(collection: Collection, bounds: KeyBounds | null): CollectionSizes | null
  /** null or absent: there are no sampled queries */
  readonly sampling?: SampledWrites | null
  /**
   * Access for work that no command runs: the documents that this member owns. Absent: everything.
   * @throws CommandError when the ownership is unknown
   */
  enterInBackground?(ns: string): Promise<Access> | Access
}
