/** Number and size of the documents of a collection, as stored or as the role reports them. */
import type { Collection } from '@shardlab/storage'

export interface CollectionSizes {
  readonly count: number
  readonly dataSizeBytes: number
}

/** Bounds of the shard key. */
export interface KeyBounds {
  readonly min: Uint8Array
  /** Exclusive. */
  readonly max: Uint8Array
}

/** A node whose role may report sizes without storing documents. */
interface SizedNode {
  readonly role: { sizesOf?(collection: Collection, bounds: KeyBounds | null): CollectionSizes | null }
}

export function sizesOf({ role }: SizedNode, collection: Collection): CollectionSizes {
  return role.sizesOf?.(collection, null) ?? collection
}
