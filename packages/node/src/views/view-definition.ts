import { compareDocuments } from '@shardlab/bson'

export const viewsCollection = 'system.views'

export interface ViewDefinition {
  readonly ns: string
  readonly viewOn: string
  readonly pipeline: readonly Uint8Array[]
  /** Complete collation; null: the simple one. */
  readonly collation: Uint8Array | null
  readonly document: Uint8Array
}

export function sameCollation(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : compareDocuments(a, b) === 0
}
