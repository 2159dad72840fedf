/**
 * One mongod as its commands and its role see it. `StorageNode` implements {@link NodeHost}; a class or function that
 * needs only a part of the node takes one of the narrow interfaces.
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
  SamplingReport,
  SessionId,
  SessionKey,
  ShardLabel,
  UpdateStatement,
} from '@shardlab/member'
import type { EvaluationContext } from '@shardlab/query'
import type { Behaviours, OwnershipFilter, PlacementVersion } from '@shardlab/sharding'
import type { Collection, Index, LogEntry, LogSession, StorageEngine } from '@shardlab/storage'
import type { CursorManager } from '../cursors/cursor-manager.js'
import type { InsertWaiters } from '../cursors/insert-waiters.js'
import type { LogChange } from '../log/log-change.js'
import type { ChangeObserver } from '../log/node-log.js'
import type { RetryHistory } from '../retry/retry-history.js'
import type { SnapshotHistory } from '../read/snapshots/snapshot-history.js'
import type { CollectionSizes, KeyBounds } from '../statistics/collection-sizes.js'
import type { NodeParameterName } from '../parameters/node-parameters.js'
import type { NodeStatistics } from '../statistics/node-statistics.js'

/** Reads the collections as they are, or as they were at the time of a snapshot. */
export interface CollectionReader {
  readonly behaviours: Behaviours
  readonly engine: StorageEngine
  collection(ns: string): Collection | undefined
}

/** Changes the node, by its log alone. */
export interface ChangeWriter {
  /** Applies one change. {@link flush} before acknowledging it; the bytes must not be written to before that. */
  apply(change: LogChange): LogEntry
  /**
   * Inserts checked documents until one is refused. {@link flush} before acknowledging them.
   * @returns how many were inserted
   */
  insertEach(
    collection: Collection,
    documents: readonly Uint8Array[],
    session: (LogSession & { readonly key: SessionKey }) | null,
  ): number
  /** Inserts documents with new `_id`s, all or none. {@link flush} before acknowledging them. */
  insertAll(collection: Collection, documents: Iterable<Uint8Array>): void
  /** Whether the disk has room for documents of this size in this many entries. */
  hasRoom(documentBytes: number, entries: number): boolean
  /**
   * Call before the first change of something that can still be refused.
   * @param entries number of changes that hold the documents. Default 1
   * @throws CommandError 14031 OutOfDiskSpace
   */
  requireRoom(documentBytes?: number, entries?: number): void
  /** Whether all applied changes are on the disk. */
  readonly isWritten: boolean
  /** Resolves when all changes applied so far are on the disk. @throws CommandError 14031 OutOfDiskSpace */
  flush(): Promise<void>
  /** Calls the observer with every change. @returns a function that ends this */
  observe(observer: ChangeObserver): () => void
}

/** Whether the node, the only member of its replica set, is primary. */
export interface Primary {
  readonly isPrimary: boolean
  /** Number of elections so far. */
  readonly term: bigint
  /** The election id of hello. */
  readonly electionId: Uint8Array
  /** Takes over a later term of an earlier incarnation. */
  adopt(term: bigint): void
  /** Interrupts running writes and becomes a secondary. */
  stepDown(): void
  stepUp(): void
  /** @throws CommandError 10107 NotWritablePrimary, 13435 NotPrimaryNoSecondaryOk: a secondary does not run the command */
  checkMayRun(row: CommandRow<never>, body: Uint8Array): void
}

/** `metrics.ttl` of serverStatus. */
export interface TtlCounters {
  /** Passes since the start of the member. */
  passes: number
  /** Documents deleted. */
  deletedDocuments: number
}

export interface StorageNodeOptions {
  readonly behaviours: Behaviours
  /** Highest wire version that hello announces. */
  readonly maxWireVersion: number
  /** Refuses commands and operators that are only partly implemented. Default false. */
  readonly strict?: boolean
  /** See {@link NodeLogOptions}. Default: 64 MB. */
  readonly checkpointAfterBytes?: number
}

/** The node as a whole. */
export interface NodeHost extends MemberHost, CollectionReader, ChangeWriter {
  readonly behaviours: Behaviours
  readonly process: 'mongod'
  readonly options: StorageNodeOptions
  readonly role: NodeRole
  readonly retries: RetryHistory
  readonly snapshots: SnapshotHistory
  readonly cursors: CursorManager
  readonly insertWaiters: InsertWaiters
  readonly statistics: NodeStatistics
  readonly opcounters: NodeStatistics['opcounters']
  readonly table: CommandTable<NodeInvocation>
  readonly parameters: ParameterSet<NodeParameterName>
  readonly primary: Primary
  readonly ttl: { readonly counters: TtlCounters }
  readonly sampling: SampledWrites | null
  readonly featureCompatibilityVersion: string
  readonly newObjectId: () => Uint8Array
  /** Aborted when the member shuts down. */
  readonly stopping: Cancellation
  backgroundOperations(shard: ShardLabel): Iterable<Uint8Array>
  /** The environment of expressions. */
  evaluation(): EvaluationContext
  /** Runs a command of a client connected to this member. */
  clientCommand(command: ClientCommand): Promise<ClientReply> | ClientReply
  /** Runs a command of another member. */
  nodeCommand(command: NodeCommand): Promise<NodeReply> | NodeReply
}

/** The retryable write that a command belongs to. */
export interface RetryableWrite {
  readonly session: SessionId
  readonly txnNumber: bigint
  /** Statement id of each statement of the batch. */
  stmtId(index: number): number
}

/** One run of a command on a storage node. */
export interface NodeInvocation extends MemberInvocation {
  readonly host: NodeHost
  readonly args: CommandArguments
  readonly sequences: readonly (readonly [string, readonly Uint8Array[]])[]
  /** What a router sent along; null when a client asked directly. */
  readonly routed: NodeCommand | null
  readonly retryable: RetryableWrite | null
  readonly concerns: Concerns
  /** The view that the client named, when the command runs on what is below it: its cursor bears this name. */
  readonly cursorNs?: string
}

/** The sampling of a storage node: it keeps what sampled updates did to documents. */
export interface SampledWrites extends SamplingReport {
  /** Is any collection sampled? Only then the node says which statement begins. */
  readonly isActive: boolean
  /**
   * The statement whose replacements come next, until the one after it: a statement of an update, an op of a bulkWrite, or the body of a
   * findAndModify. A `sampleId` in it says that it is sampled.
   */
  statementBegins(ns: string, statement: Uint8Array, invocation: NodeInvocation): void
}

/** Which documents of a collection a command may see and change. */
export interface Access {
  /** Null: all of them (unsharded collections, unversioned commands). */
  readonly ownership: OwnershipFilter | null
}

/** What asks to touch a collection: a command, or a part of one that another member runs. */
export interface Entrant extends Pick<NodeInvocation, 'host' | 'concerns'> {
  readonly routed: RoutedBy | null
  readonly operation: { readonly command: string; readonly body?: Uint8Array }
}

/** The placement that a router assumed. */
export type RoutedBy = Pick<NodeCommand, 'shardVersion' | 'databaseVersion'>

/** What the shard key of a collection demands of its indexes. */
export interface IndexRules {
  /** Are there indexes that a drop of all of them leaves? */
  protects(access: Access, ns: string): boolean
  /** Is this one of them? */
  keeps(access: Access, collection: Collection, index: Index): boolean
  /**
   * Would the shard key have no visible index without this one?
   * @param gone names of indexes that are to go before it
   */
  isLast(access: Access, collection: Collection, index: Index, gone: ReadonlySet<string>): boolean
  /** @throws CommandError 67 CannotCreateIndex for an index that would be unique on each shard by itself only */
  checkNewIndex(access: Access, ns: string, spec: Uint8Array): void
}

/** What a role adds to the node below it. */
export interface NodeRole {
  /** For logs and serverStatus. */
  readonly name: 'shard' | 'config-server'
  /** Replica set name that hello announces. */
  readonly setName: string
  /** Commands of the role beside those of every node. */
  readonly rows: readonly CommandRow<NodeInvocation>[]
  /**
   * Called before a command touches a collection: compares the versions that it carries with the truth.
   * @throws CommandError 13388 StaleConfig, 249 StaleDbVersion
   */
  enter(ns: string, entrant: Entrant): Promise<Access> | Access
  /**
   * Called with each document about to be stored by an update, before and after.
   * @throws CommandError for a change of the shard key value that is not allowed, 283 WouldChangeOwningShard for one that moves the document
   */
  checkReplacement(
    access: Access,
    before: Uint8Array,
    after: Uint8Array,
    invocation: NodeInvocation,
    statement: UpdateStatement,
  ): void
  /**
   * Called with each document about to be inserted by an upsert. Absent: every one may be.
   * @throws CommandError for one that belongs to another member, 283 WouldChangeOwningShard where it can go there
   */
  checkUpsert?(access: Access, document: Uint8Array, invocation: NodeInvocation, statement: UpdateStatement): void
  /**
   * May the indexes or options of this collection be changed now? Absent: they may.
   * @throws CommandError 338 ReshardCollectionInProgress
   */
  checkDefinitionChange?(ns: string): void
  /** Documents of currentOp about work that no command does. Absent: there is none. */
  backgroundOperations?(shard: ShardLabel): Iterable<Uint8Array>
  /** May a client's write create this collection? */
  checkImplicitCreate(ns: string, invocation: NodeInvocation): void
  /** What sharding demands of indexes. Absent: nothing. */
  readonly indexRules?: IndexRules
  /** The collections whose placement this member knows, with its versions of them; null: not sharded. Absent: there are none. */
  placements?(): Iterable<readonly [ns: string, version: PlacementVersion | null]>
  /** Appends what the role counts to the section shardingStatistics of serverStatus. Absent: nothing. */
  writeShardingStatistics?(writer: DocumentWriter): void
  /** How many documents of a collection belong to other members. Absent: none. */
  orphanCount?(collection: Collection): number
  /**
   * Of a collection without documents: how much lies between the bounds; null: in all of it. Answers null, or is absent: documents are there to be
   * counted. @throws CommandError 115 CommandNotSupported for bounds that are not of the shard key
   */
  sizesOf?(collection: Collection, bounds: KeyBounds | null): CollectionSizes | null
  /** What the member keeps of sampled queries; null, or absent: nothing. */
  readonly sampling?: SampledWrites | null
  /** What work that no command asked for may touch: what this member owns. Absent: everything. @throws CommandError when that is not known */
  enterInBackground?(ns: string): Promise<Access> | Access
}
