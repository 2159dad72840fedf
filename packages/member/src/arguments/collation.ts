import { isEmptyDocument } from '@shardlab/bson'
import { compileCollation } from '@shardlab/query'

/** With all fields; null: the simple collation */
export function collationOf(given: Uint8Array | undefined): Uint8Array | null {
  return given === undefined || isEmptyDocument(given) ? null : (compileCollation(given)?.document ?? null)
}
