import type { ValuesByPath } from '../model/shard-key-pattern.js'
import type { CollectionPlacement } from './placement.js'

/**
 * Excludes orphans from versioned reads. Server: the SHARDING_FILTER stage, ScopedCollectionFilter.
 */
export class OwnershipFilter {
  readonly placement: CollectionPlacement
  readonly shard: string
  readonly #extraction: { readonly missingIsNull: boolean }

  /** @param missingIsNull otherwise no shard owns a document that lacks a field of the key */
  constructor(placement: CollectionPlacement, shard: string, missingIsNull = true) {
    this.placement = placement
    this.shard = shard
    this.#extraction = { missingIsNull }
  }

  /** False for a document without a shard key, such as one with an array on its path. */
  owns(document: Uint8Array): boolean {
    const key = this.placement.shardKey.extract(document, this.#extraction)
    return typeof key !== 'string' && this.placement.table.shardOf(key.keyString) === this.shard
  }

  /** @param byPath the document's values on the paths of the shard key */
  ownsValues(byPath: ValuesByPath): boolean {
    const key = this.placement.shardKey.keyFromValues(byPath)
    return key !== undefined && this.placement.table.shardOf(key.keyString) === this.shard
  }
}
