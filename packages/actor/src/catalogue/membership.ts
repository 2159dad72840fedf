import type { DatabaseVersionTuple } from './commands.js'
import { emptyDocument, exchange, type Empty, type ErrorField } from './exchange.js'

/** Requests by which shards join and leave, and databases move from one to another. */
export const membershipExchanges = {
  /**
   * Makes a running shard part of the cluster. `connectionString`: `set/host:port,…`. `name` null: that of its replica set. `maxSizeMb`: 0 is
   * no limit. Nothing happens when it is part of it already.
   */
  'config.add-shard': exchange<
    { connectionString: string; name: string | null; maxSizeMb: number },
    { shard: string; error: ErrorField }
  >({ connectionString: 'shard01/127.0.0.1:5000', name: 'shard01', maxSizeMb: 0 }, { shard: 'shard01', error: null }),
  /** Starts draining a shard, tells how far it is, or ends it: each request takes it one step on, if nothing is left. `shard`: its id or host. */
  'config.remove-shard': exchange<
    { shard: string },
    {
      state: string
      shard: string
      chunks: number
      databases: number
      jumboChunks: number
      databasesToMove: readonly string[]
      /** Those that are not sharded, and in the catalog. */
      collectionsToMove: readonly string[]
      error: ErrorField
    }
  >(
    { shard: 'shard01' },
    {
      state: 'ongoing',
      shard: 'shard01',
      chunks: 1,
      databases: 1,
      jumboChunks: 0,
      databasesToMove: ['test'],
      collectionsToMove: ['test.c'],
      error: null,
    },
  ),
  /** Another shard becomes the primary of a database whose version is this one; nothing happens when it is already. */
  'config.commit-move-primary': exchange<
    { db: string; to: string; databaseVersion: DatabaseVersionTuple },
    { database: Uint8Array | null; error: ErrorField }
  >({ db: 'test', to: 'shard02', databaseVersion: ['00', 1, 1, 1] }, { database: emptyDocument, error: null }),
  /** Whether a shard can become the primary of a database. */
  'config.check-new-primary': exchange<{ db: string; to: string }, { error: ErrorField }>(
    { db: 'test', to: 'shard02' },
    { error: null },
  ),
  /** Where the config server can be reached: `set/host:port`. */
  'config.introduce': exchange<Empty, { connectionString: string }>({}, { connectionString: 'config/127.0.0.1:5000' }),
  /** A router reads the list of shards anew. */
  'mongos.refresh-shards': exchange<Empty, Empty>({}, {}),
  /** What someone who wants to be a shard says of itself: its replica set, where it listens, which databases it holds. */
  'shard.introduce': exchange<Empty, { setName: string; host: string; databases: readonly string[] }>(
    {},
    { setName: 'shard01', host: '127.0.0.1:5000', databases: ['test'] },
  ),
  /** The primary shard of a database gives its unsharded collections and views, and its place, to another shard. */
  'shard.move-primary': exchange<
    { db: string; to: string; databaseVersion: DatabaseVersionTuple },
    { error: ErrorField }
  >({ db: 'test', to: 'shard02', databaseVersion: ['00', 1, 1, 1] }, { error: null }),
  /** Names of the collections and views of a database that a shard holds. */
  'shard.list-local-namespaces': exchange<{ db: string }, { namespaces: readonly string[] }>(
    { db: 'test' },
    { namespaces: ['test.c'] },
  ),
  /** Documents of a collection that moves here with its database, in the order of the donor. */
  'shard.receive-documents': exchange<
    { ns: string; uuid: Uint8Array; documents: readonly Uint8Array[] },
    { error: ErrorField }
  >({ ns: 'test.c', uuid: new Uint8Array(16), documents: [emptyDocument] }, { error: null }),
}
