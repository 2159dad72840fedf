import type { TimestampPair } from './exchange.js'
import type { MessageKind } from './index.js'

/**
 * Definitions that a router lets a shard coordinate. Besides their own fields, these requests and
 * their replies have the cluster time: what a client does next has a later time than the change, on
 * every shard. `node.command` has it as a field of its own.
 */
export const gossipedKinds: ReadonlySet<MessageKind> = new Set<MessageKind>([
  'shard.change-definition',
  'shard.create-sharded-collection',
  'shard.drop-collection',
  'shard.drop-database',
  'shard.move-primary',
  'shard.refine-collection-shard-key',
  'shard.rename-collection',
  'shard.reshard-collection',
])

export interface Gossiped {
  /** Null or absent: the sender has none. */
  readonly clusterTime?: TimestampPair | null
}
