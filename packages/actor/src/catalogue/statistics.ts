import { exchange, type ErrorField } from './exchange.js'

/**
 * A shard's part of one collection. `count` includes orphans. `orphanCount`: documents of ranges
 * whose deletion is pending. `averageBytes`: of a document, rounded down; null: there are none.
 */
export type CollectionCountsTuple = readonly [
  ns: string,
  count: number,
  orphanCount: number,
  averageBytes: number | null,
]

export const statisticsExchanges = {
  /** Collections that the shard does not have are left out. */
  'shard.collection-counts': exchange<
    { namespaces: readonly string[] },
    { collections: readonly CollectionCountsTuple[] }
  >({ namespaces: ['test.c'] }, { collections: [['test.c', 2, 1, 30]] }),
  /**
   * The shard's own chunks that have documents, in key order. `keys` and `ends`: KeyStrings of
   * their bounds in hexadecimal.
   */
  'shard.chunk-sizes': exchange<
    { ns: string },
    {
      keys: readonly string[]
      ends: readonly string[]
      documents: readonly number[]
      bytes: readonly number[]
      error: ErrorField
    }
  >({ ns: 'test.c' }, { keys: ['2d02'], ends: ['2d04'], documents: [1], bytes: [100], error: null }),
}
