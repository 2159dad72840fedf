import { compareDocuments } from '@shardlab/bson'

/** Where the views of a database are. */
export const viewsCollection = 'system.views'

export interface ViewDefinition {
  readonly ns: string
  /** Name of the collection or view below, in the same database. */
  readonly viewOn: string
  readonly pipeline: readonly Uint8Array[]
  /** With all its fields; null for the simple one. */
  readonly collation: Uint8Array | null
  /** As it is stored. */
  readonly document: Uint8Array
}

/** Do both views compare strings alike? */
export function sameCollation(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : compareDocuments(a, b) === 0
}
