import type { ValuesByPath } from '../model/shard-key-pattern.js'
import type { Behaviours } from '../behaviours/table.js'
import type { CollectionPlacement } from './placement.js'

export type OwnershipRules = Pick<
  Behaviours,
  'hashesCoverShardKeys' | 'missingShardKeyFieldsAreNull' | 'writesIncludeOrphans'
>

const latestRules: OwnershipRules = {
  hashesCoverShardKeys: true,
  missingShardKeyFieldsAreNull: true,
  writesIncludeOrphans: false,
}

/**
 * Excludes orphans from versioned reads. Server: the SHARDING_FILTER stage, ScopedCollectionFilter.
 */
export class OwnershipFilter {
  readonly placement: CollectionPlacement
  readonly shard: string
  /** Whether an index that has the hash of a field decides ownership without the document. */
  readonly hashesCover: boolean
  readonly #extraction: { readonly missingIsNull: boolean }
  readonly #writesIncludeOrphans: boolean

  constructor(placement: CollectionPlacement, shard: string, rules: OwnershipRules = latestRules) {
    this.placement = placement
    this.shard = shard
    this.hashesCover = rules.hashesCoverShardKeys
    this.#extraction = { missingIsNull: rules.missingShardKeyFieldsAreNull }
    this.#writesIncludeOrphans = rules.writesIncludeOrphans
  }

  /** False for a document without a shard key, such as one with an array on its path. */
  owns(document: Uint8Array): boolean {
    const key = this.placement.shardKey.extract(document, this.#extraction)
    return typeof key !== 'string' && this.placement.table.shardOf(key.keyString) === this.shard
  }

  /** Whether a write may find the document. */
  isWritable(document: Uint8Array): boolean {
    return this.#writesIncludeOrphans || this.owns(document)
  }

  /** @param byPath the document's values on the paths of the shard key */
  ownsValues(byPath: ValuesByPath): boolean {
    const key = this.placement.shardKey.keyFromValues(byPath)
    return key !== undefined && this.placement.table.shardOf(key.keyString) === this.shard
  }
}
