import { isEmptyDocument } from '@shardlab/bson'
import { compileCollation } from '@shardlab/query'

/** A collation with all its fields; null for the simple one. */
export function collationOf(given: Uint8Array | undefined): Uint8Array | null {
  return given === undefined || isEmptyDocument(given) ? null : (compileCollation(given)?.document ?? null)
}
