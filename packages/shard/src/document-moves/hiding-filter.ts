import { findField } from '@shardlab/bson'
import { OwnershipFilter, type CollectionPlacement } from '@shardlab/sharding'
import { keyOf } from './prepared-inserts.js'

/** Ownership of a collection into which documents are being moved: those do not count yet. */
export class HidingFilter extends OwnershipFilter {
  readonly #hidden: ReadonlySet<string>

  /** @param hidden `_id`s as KeyStrings */
  constructor(placement: CollectionPlacement, shard: string, hidden: ReadonlySet<string>) {
    super(placement, shard)
    this.#hidden = hidden
  }

  override owns(document: Uint8Array): boolean {
    if (!super.owns(document)) return false
    const id = findField(document, '_id')
    return id === undefined || !this.#hidden.has(keyOf(id))
  }

  /** Of the key alone nothing can be told: a document that has it may be one of those that are hidden. */
  override ownsValues(): boolean {
    return false
  }
}
