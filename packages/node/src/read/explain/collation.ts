import { isEmptyDocument } from '@shardlab/bson'
import { compileCollation } from '@shardlab/query'
import type { Collection } from '@shardlab/storage'

/** All fields of the collation of a query; null: the simple one. */
export function collationOf(requested: Uint8Array | undefined, collection: Collection | null): Uint8Array | null {
  const effective =
    requested === undefined || isEmptyDocument(requested) ? (collection?.defaultCollation ?? null) : requested
  return effective === null ? null : (compileCollation(effective)?.document ?? null)
}
