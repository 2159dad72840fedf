import { isEmptyDocument } from '@shardlab/bson'
import { compileCollation } from '@shardlab/query'

/** The collation with all its fields; null: the simple one. */
export function collationOf(given: Uint8Array | undefined): Uint8Array | null {
  return given === undefined || isEmptyDocument(given) ? null : (compileCollation(given)?.document ?? null)
}
