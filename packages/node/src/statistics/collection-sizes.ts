import type { Collection } from '@shardlab/storage'

export interface CollectionSizes {
  readonly count: number
  readonly dataSizeBytes: number
}

export interface KeyBounds {
  readonly min: Uint8Array
  /** Exclusive. */
  readonly max: Uint8Array
}

/** The role may report sizes without storing documents. */
interface SizedNode {
  readonly role: { sizesOf?(collection: Collection, bounds: KeyBounds | null): CollectionSizes | null }
}

export function sizesOf({ role }: SizedNode, collection: Collection): CollectionSizes {
  return role.sizesOf?.(collection, null) ?? collection
}
