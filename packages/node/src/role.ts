import type { CommandRow } from '@shardlab/actor'
import type { OwnershipFilter, PlacementVersion } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import type { NodeInvocation } from './invocation.js'

/** Which documents of a collection a command may see and change. */
export interface Access {
  /** Null: all of them (unsharded collections, unversioned commands). */
  readonly ownership: OwnershipFilter | null
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
  enter(ns: string, invocation: NodeInvocation): Promise<Access> | Access
  /**
   * Called with each document about to be stored by an update, before and after.
   * @throws CommandError for a change of the shard key value that is not allowed
   */
  checkReplacement(access: Access, before: Uint8Array, after: Uint8Array, invocation: NodeInvocation): void
  /** May a client's write create this collection? */
  checkImplicitCreate(ns: string, invocation: NodeInvocation): void
  /**
   * Names of the visible indexes that routing and migrations of this collection rely on: the last of them can neither be dropped nor
   * hidden. Absent: there are none.
   */
  shardKeyIndexes?(access: Access, collection: Collection): readonly string[]
  /** The collections whose placement this member knows, with its versions of them; null: not sharded. Absent: there are none. */
  placements?(): Iterable<readonly [ns: string, version: PlacementVersion | null]>
  /** What work that no command asked for may touch: what this member owns. Absent: everything. @throws CommandError when that is not known */
  enterInBackground?(ns: string): Promise<Access> | Access
}
