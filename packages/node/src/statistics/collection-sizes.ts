/** How much a collection holds: what its documents say or, where a role knows sizes instead of documents, what that says. */
import type { Collection } from '@shardlab/storage'
import type { NodeRole } from '../role.js'

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

export function sizesOf(
  { role }: { readonly role: Pick<NodeRole, 'sizesOf'> },
  collection: Collection,
): CollectionSizes {
  return role.sizesOf?.(collection, null) ?? collection
}
