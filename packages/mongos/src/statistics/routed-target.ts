import type { CollectionPlacement } from '@shardlab/sharding'

/** The shards of an operation on a collection, and the reason. */
export interface RoutedTarget {
  readonly ns: string
  readonly shards: readonly string[]
  readonly kind: 'targeted' | 'multi' | 'broadcast'
  readonly chunks: number
  readonly bounds: readonly (readonly [low: Uint8Array, high: Uint8Array])[]
}

export interface NotedTarget {
  readonly target: RoutedTarget
  /** Null: the collection is not sharded. */
  readonly placement: CollectionPlacement | null
}
