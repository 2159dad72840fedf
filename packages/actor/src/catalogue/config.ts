import type { PackedChunks } from '../payloads/packed-chunks.js'
import type { PlacementVersionTuple } from './commands.js'
import { emptyDocument, exchange, type Empty, type ErrorField, type TimestampPair } from './exchange.js'

/**
 * The config server's parameters balancerMigrationsThrottlingMs, null where the version has none, chunkDefragmentationThrottlingMS,
 * autoMergerIntervalSecs and autoMergerThrottlingMS.
 */
export type BalancerPausesTuple = readonly [
  migrationsMs: number | null,
  defragmentationMs: number,
  autoMergerIntervalSecs: number,
  autoMergerMs: number,
]

/** Requests to the config server: what routers, shards, the balancer and the API ask of the catalog. */
export const configExchanges = {
  /** First contact of the API after the members have started. Repeating it changes nothing. */
  'config.initialise': exchange<
    { clusterId: Uint8Array; shards: readonly (readonly [id: string, host: string])[]; chunkSizeBytes: number },
    Empty
  >({ clusterId: new Uint8Array(12), shards: [['shard01', 'shard01/127.0.0.1:5000']], chunkSizeBytes: 134217728 }, {}),
  /** Every document of config.shards, ordered by id. */
  'config.get-shards': exchange<Empty, { shards: readonly Uint8Array[]; clusterTime: TimestampPair }>(
    {},
    { shards: [emptyDocument], clusterTime: [1, 1] },
  ),
  /** The config.databases document; null when there is none. */
  'config.get-database': exchange<{ db: string }, { database: Uint8Array | null }>(
    { db: 'test' },
    { database: emptyDocument },
  ),
  /**
   * Creates the database, or returns the one there is. `primaryShard` null: the server chooses. `enableSharding`: mark
   * it as one whose collections may be sharded, where the emulated version keeps such a mark.
   */
  'config.create-database': exchange<
    { db: string; primaryShard: string | null; enableSharding: boolean },
    { database: Uint8Array | null; error: ErrorField }
  >({ db: 'test', primaryShard: 'shard01', enableSharding: false }, { database: emptyDocument, error: null }),
  /**
   * Placement of one collection. `since`: the newest version that the asker knows; with the same generation only
   * chunks changed after it come back (`full` false), otherwise all of them. `collection` null: not sharded.
   */
  'config.get-collection': exchange<
    { ns: string; since: PlacementVersionTuple | null },
    { collection: Uint8Array | null; chunks: readonly Uint8Array[]; full: boolean }
  >(
    { ns: 'test.c', since: ['0123456789abcdef01234567', 1, 2, 3, 4] },
    { collection: emptyDocument, chunks: [emptyDocument], full: true },
  ),
  /** Writes the catalog entries of a collection that a shard has just created as sharded, in the place of those of one that was not. */
  'config.commit-create-collection': exchange<
    {
      ns: string
      uuid: Uint8Array
      key: Uint8Array
      unique: boolean
      defaultCollation: Uint8Array | null
      chunks: PackedChunks
      /** The catalog has the collection, not sharded: it is still to be that one. */
      wasTracked: boolean
    },
    { error: ErrorField }
  >(
    {
      ns: 'test.c',
      uuid: new Uint8Array(16),
      key: emptyDocument,
      unique: false,
      defaultCollation: null,
      chunks: [emptyDocument, ['shard01'], new Uint8Array(4)],
      wasTracked: false,
    },
    { error: null },
  ),
  /**
   * Writes the catalog entries of a collection that is not sharded, one chunk on that shard. Nothing happens when the collection with this
   * UUID is there. `to`: where it is to be moved.
   */
  'config.track-collection': exchange<
    { ns: string; uuid: Uint8Array; defaultCollation: Uint8Array | null; shard: string; to: string },
    { error: ErrorField }
  >(
    { ns: 'test.c', uuid: new Uint8Array(16), defaultCollation: null, shard: 'shard01', to: 'shard02' },
    { error: null },
  ),
  /** Removes the catalog entries of a collection; nothing happens when they are gone already. */
  'config.commit-drop-collection': exchange<{ ns: string }, { error: ErrorField }>({ ns: 'test.c' }, { error: null }),
  /**
   * Gives a sharded collection another name and a new generation, in the place of what has that name; zones go along. Nothing happens when
   * the collection with this UUID has the name already.
   */
  'config.commit-rename-collection': exchange<{ ns: string; to: string; uuid: Uint8Array }, { error: ErrorField }>(
    { ns: 'test.c', to: 'test.d', uuid: new Uint8Array(16) },
    { error: null },
  ),
  /** Removes the catalog entries of all collections of a database. */
  'config.commit-drop-collections': exchange<{ db: string }, { error: ErrorField }>({ db: 'test' }, { error: null }),
  /** Removes a database and all its collections from the catalog. */
  'config.commit-drop-database': exchange<{ db: string }, { error: ErrorField }>({ db: 'test' }, { error: null }),
  /** Appends to config.changelog. */
  'config.log-change': exchange<{ what: string; ns: string; details: Uint8Array; from: string }, Empty>(
    { what: 'shardCollection.start', ns: 'test.c', details: emptyDocument, from: 'shard01' },
    {},
  ),
  /** A router says that it lives; kept in config.mongos. It hears which read and write concern were set for all; null: none. */
  'config.mongos-ping': exchange<
    { host: string; version: string; createdMs: number; upSeconds: number },
    { clusterId: Uint8Array; concernDefaults: Uint8Array | null }
  >(
    { host: '127.0.0.1:27017', version: '7.0.31', createdMs: 1, upSeconds: 1 },
    { clusterId: new Uint8Array(12), concernDefaults: emptyDocument },
  ),
  /** Switches the balancer in config.settings. */
  'config.set-balancer-mode': exchange<{ mode: string }, { error: ErrorField }>({ mode: 'full' }, { error: null }),
  /** The config.settings document of the balancer; null when there is none. */
  'config.get-balancer-settings': exchange<Empty, { settings: Uint8Array | null; pauses: BalancerPausesTuple }>(
    {},
    { settings: emptyDocument, pauses: [1000, 0, 3600, 15_000] },
  ),
}
