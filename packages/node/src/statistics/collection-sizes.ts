/** How much a collection holds: what its documents say or, where a role knows sizes instead of documents, what that says. */
import type { Collection } from '@shardlab/storage'

export interface CollectionSizes {
  /** Documents. */
  readonly count: number
  readonly dataSizeBytes: number
}

/** Bounds of the shard key. */
export interface KeyBounds {
  readonly min: Uint8Array
  /** Exclusive. */
  readonly max: Uint8Array
}

/** A node whose role may know sizes without documents. */
interface SizedNode {
  readonly role: { sizesOf?(collection: Collection, bounds: KeyBounds | null): CollectionSizes | null }
}

export function sizesOf({ role }: SizedNode, collection: Collection): CollectionSizes {
  return role.sizesOf?.(collection, null) ?? collection
}
