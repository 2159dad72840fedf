import { isEmptyDocument } from '@shardlab/bson'
import { compileCollation } from '@shardlab/query'
import type { Collection } from '@shardlab/storage'

/** With all fields; null: the simple collation */
export function collationOf(requested: Uint8Array | undefined, collection: Collection | null): Uint8Array | null {
  const effective =
    requested === undefined || isEmptyDocument(requested) ? (collection?.defaultCollation ?? null) : requested
  return effective === null ? null : (compileCollation(effective)?.document ?? null)
}
