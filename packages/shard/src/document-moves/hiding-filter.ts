import { findField } from '@shardlab/bson'
import { OwnershipFilter, type CollectionPlacement, type OwnershipRules } from '@shardlab/sharding'
import { keyOf } from './prepared-inserts.js'

/** Excludes documents that are moving into the collection. */
export class HidingFilter extends OwnershipFilter {
  readonly #hidden: ReadonlySet<string>

  /** @param hidden `_id`s as KeyStrings */
  constructor(placement: CollectionPlacement, shard: string, rules: OwnershipRules, hidden: ReadonlySet<string>) {
    super(placement, shard, rules)
    this.#hidden = hidden
  }

  override owns(document: Uint8Array): boolean {
    return super.owns(document) && !this.#hides(document)
  }

  override isWritable(document: Uint8Array): boolean {
    return super.isWritable(document) && !this.#hides(document)
  }

  #hides(document: Uint8Array): boolean {
    const id = findField(document, '_id')
    return id !== undefined && this.#hidden.has(keyOf(id))
  }

  /** The key alone does not decide: the document with it may be hidden. */
  override ownsValues(): boolean {
    return false
  }
}
