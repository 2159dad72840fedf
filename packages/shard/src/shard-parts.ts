/** What the protocols of a shard work on, and the table that their handlers stand in. */
import type { MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'
import type { StorageNode } from '@shardlab/node'
import type { CriticalSections } from './metadata/critical-sections.js'
import type { PlacementState } from './metadata/placement-state.js'

export interface ShardParts {
  readonly node: StorageNode
  readonly state: PlacementState
  readonly critical: CriticalSections
}

/** Requests that shards answer, commands of clients apart. */
export type ShardKind = Extract<MessageKind, `shard.${string}`>

/** One handler for each kind. A CommandError that it throws becomes the reply's `error`. */
export type ShardHandlers<K extends ShardKind = ShardKind> = {
  readonly [Kind in K]: (shard: ShardParts, request: RequestOf<Kind>) => Promise<ReplyOf<Kind>> | ReplyOf<Kind>
}
