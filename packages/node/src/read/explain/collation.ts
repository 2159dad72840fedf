import { isEmptyDocument } from '@shardlab/bson'
import { compileCollation } from '@shardlab/query'
import type { Collection } from '@shardlab/storage'

/** All fields of the collation of a query; null: the simple one. */
export function collationOf(asked: Uint8Array | undefined, collection: Collection | null): Uint8Array | null {
  const effective = asked === undefined || isEmptyDocument(asked) ? (collection?.defaultCollation ?? null) : asked
  return effective === null ? null : (compileCollation(effective)?.document ?? null)
}
