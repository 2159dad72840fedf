import { emptyDocument, exchange } from './exchange.js'

export const consistencyExchanges = {
  /**
   * For checkMetadataConsistency: compares the shard's collections with the catalog. `collections`:
   * config.collections documents of the database. `only`: check this namespace only; null: all.
   * `inconsistencies`: `{ type, description, details }`. `options`: options and UUID of the local
   * copies of collections in the catalog.
   */
  'shard.check-metadata': exchange<
    { db: string; primary: string; only: string | null; collections: readonly Uint8Array[] },
    { inconsistencies: readonly Uint8Array[]; options: readonly (readonly [ns: string, options: Uint8Array])[] }
  >(
    { db: 'test', primary: 'shard01', only: 'test.c', collections: [emptyDocument] },
    { inconsistencies: [emptyDocument], options: [['test.c', emptyDocument]] },
  ),
}
