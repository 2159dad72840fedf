import { findField } from '@shardlab/bson'
import { OwnershipFilter, type CollectionPlacement } from '@shardlab/sharding'
import { keyOf } from './prepared-inserts.js'

/** Excludes documents that are moving into the collection. */
export class HidingFilter extends OwnershipFilter {
  readonly #hidden: ReadonlySet<string>

  /** @param hidden `_id`s as KeyStrings */
  constructor(placement: CollectionPlacement, shard: string, missingIsNull: boolean, hidden: ReadonlySet<string>) {
    super(placement, shard, missingIsNull)
    this.#hidden = hidden
  }

  override owns(document: Uint8Array): boolean {
    if (!super.owns(document)) return false
    const id = findField(document, '_id')
    return id === undefined || !this.#hidden.has(keyOf(id))
  }

  /** The key alone does not decide: the document with it may be hidden. */
  override ownsValues(): boolean {
    return false
  }
}
