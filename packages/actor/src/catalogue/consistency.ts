import { emptyDocument, exchange } from './exchange.js'

/** What routers ask shards for checkMetadataConsistency. */
export const consistencyExchanges = {
  /**
   * Compares the local collections of a database with those of the catalog.
   * `collections`: config.collections documents of the database; `only`: the one namespace that is looked at, null for all.
   * `inconsistencies`: `{ type, description, details }`; `options`: options and UUID of each local copy of a collection of the catalog.
   */
  'shard.check-metadata': exchange<
    { db: string; primary: string; only: string | null; collections: readonly Uint8Array[] },
    { inconsistencies: readonly Uint8Array[]; options: readonly (readonly [ns: string, options: Uint8Array])[] }
  >(
    { db: 'test', primary: 'shard01', only: 'test.c', collections: [emptyDocument] },
    { inconsistencies: [emptyDocument], options: [['test.c', emptyDocument]] },
  ),
}
