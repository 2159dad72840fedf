import type { DatabaseVersionTuple } from './commands.js'
import { emptyDocument, exchange, type ErrorField } from './exchange.js'

export const refineShardKeyExchanges = {
  /** No effect when the collection has that key already. */
  'shard.refine-collection-shard-key': exchange<
    {
      ns: string
      key: Uint8Array
      /** Whether a unique shard key requires a unique index on exactly the new key. */
      enforceUniqueness: boolean
      collectionUuid: Uint8Array | null
      databaseVersion: DatabaseVersionTuple
    },
    { error: ErrorField }
  >(
    {
      ns: 'test.c',
      key: emptyDocument,
      enforceUniqueness: true,
      collectionUuid: new Uint8Array(16),
      databaseVersion: ['00', 1, 1, 1],
    },
    { error: null },
  ),
  /** Checks that the shard has an index for this key, and none that the key forbids. */
  'shard.check-shard-key-index': exchange<{ ns: string; key: Uint8Array; unique: boolean }, { error: ErrorField }>(
    { ns: 'test.c', key: emptyDocument, unique: false },
    { error: null },
  ),
  /**
   * Writes the new key with a new generation, and extends the bounds of chunks and zones. `epoch`:
   * of the checked placement, as hex.
   */
  'config.commit-refine-shard-key': exchange<{ ns: string; key: Uint8Array; epoch: string }, { error: ErrorField }>(
    { ns: 'test.c', key: emptyDocument, epoch: '0123456789abcdef01234567' },
    { error: null },
  ),
}
