import type { DatabaseVersionTuple } from './commands.js'
import { emptyDocument, exchange, type ErrorField } from './exchange.js'

/** refineCollectionShardKey: run by the database's primary shard, committed on the config server. */
export const refineShardKeyExchanges = {
  /** Gives a collection a shard key that begins with the one it has. Nothing happens when it has it already. */
  'shard.refine-collection-shard-key': exchange<
    {
      ns: string
      key: Uint8Array
      /** Must a unique index on exactly the new key be there, when the old one is unique? */
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
  /** Has the shard's copy of a collection an index for this shard key, and none that the key does not allow? */
  'shard.check-shard-key-index': exchange<{ ns: string; key: Uint8Array; unique: boolean }, { error: ErrorField }>(
    { ns: 'test.c', key: emptyDocument, unique: false },
    { error: null },
  ),
  /** Writes the new key, with a new generation, and extends the bounds of chunks and zones. `epoch`: of the placement that was checked, as hex. */
  'config.commit-refine-shard-key': exchange<{ ns: string; key: Uint8Array; epoch: string }, { error: ErrorField }>(
    { ns: 'test.c', key: emptyDocument, epoch: '0123456789abcdef01234567' },
    { error: null },
  ),
}
