import type { NodeRole, NodeHost } from '@shardlab/node'
import type { PlacementHost } from './host.js'
import type { KeyRange } from '../ranges/key-range.js'
import type { TransactionCoordinators } from '../transactions/transaction-coordinators.js'
import type { RangeStore } from '../ranges/collection-ranges.js'

export interface CommandHost extends PlacementHost {
  readonly coordinators: TransactionCoordinators
  readonly ranges: RangeStore
  readonly rangeDeleter: {
    /**
     * Resolves when no range deletion of the collection has keys of the range; false after
     * `timeoutMs`.
     * @param range null: the whole collection
     * @param timeoutMs null: no limit
     */
    waitForClean(collectionUuid: Uint8Array, range: KeyRange | null, timeoutMs: number | null): Promise<boolean>
  }
}

export interface ShardRole extends NodeRole {
  readonly shard: CommandHost
}

export function shardOf(node: NodeHost): CommandHost {
  return (node.role as ShardRole).shard
}
