import { exchange } from './exchange.js'

/**
 * What a shard holds of one collection: `count` documents with the orphans, which are those of ranges that it has given away and not
 * deleted yet; `averageBytes` of a document rounded down, null when there is none.
 */
export type CollectionCountsTuple = readonly [
  ns: string,
  count: number,
  orphanCount: number,
  averageBytes: number | null,
]

/** What routers ask shards for statistics. */
export const statisticsExchanges = {
  /** The local copies of these collections; those that the shard does not have are left out. */
  'shard.collection-counts': exchange<
    { namespaces: readonly string[] },
    { collections: readonly CollectionCountsTuple[] }
  >({ namespaces: ['test.c'] }, { collections: [['test.c', 2, 1, 30]] }),
}
