import { compareDocuments } from '@shardlab/bson'

export const viewsCollection = 'system.views'

export interface ViewDefinition {
  readonly ns: string
  /** Name of the collection or view below, in the same database. */
  readonly viewOn: string
  readonly pipeline: readonly Uint8Array[]
  /** Complete collation; null: the simple one. */
  readonly collation: Uint8Array | null
  /** The stored definition. */
  readonly document: Uint8Array
}

/** Whether both collations are the same. */
export function sameCollation(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : compareDocuments(a, b) === 0
}
