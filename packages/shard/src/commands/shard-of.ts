import type { NodeRole, StorageNode } from '@shardlab/node'
import type { PlacementHost } from '../host/host.js'
import type { RangeDeleter } from '../range-deletion/range-deleter.js'
import type { RangeStore } from '../ranges/collection-ranges.js'

/** What the commands of a shard use of it, beside its node. */
export interface CommandHost extends PlacementHost {
  readonly ranges: RangeStore
  readonly rangeDeleter: Pick<RangeDeleter, 'waitForClean'>
}

export interface ShardRole extends NodeRole {
  readonly shard: CommandHost
}

/** The shard whose node runs a command. */
export function shardOf(node: StorageNode): CommandHost {
  return (node.role as ShardRole).shard
}
