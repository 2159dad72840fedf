import type { CommandRow, NodeCommand } from '@shardlab/actor'
import type { DocumentWriter } from '@shardlab/bson'
import type { OwnershipFilter, PlacementVersion } from '@shardlab/sharding'
import type { Collection, Index } from '@shardlab/storage'
import type { UpdateStatement, ShardLabel } from '@shardlab/member'
import type { NodeInvocation } from './invocation.js'
import type { SampledWrites } from './sampling/sampling-report.js'
import type { CollectionSizes, KeyBounds } from './statistics/collection-sizes.js'

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
